/** How often one user or one address may try; decided before anything else is spent on them. */
@NullMarked
package io.seckill.gateway.limits;

import org.jspecify.annotations.NullMarked;
