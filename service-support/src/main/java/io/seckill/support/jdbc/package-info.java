/** How the services reach MySQL. */
@NullMarked
package io.seckill.support.jdbc;

import org.jspecify.annotations.NullMarked;
