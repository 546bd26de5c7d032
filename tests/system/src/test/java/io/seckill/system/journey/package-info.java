/** An order's way through the three services, and a sale's through its whole life. */
@NullMarked
package io.seckill.system.journey;

import org.jspecify.annotations.NullMarked;
