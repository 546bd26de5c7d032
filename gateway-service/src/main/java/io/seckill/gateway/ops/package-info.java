/** Shows operators the running sales: the stream of their page, lanes, metrics and health. */
@NullMarked
package io.seckill.gateway.ops;

import org.jspecify.annotations.NullMarked;
