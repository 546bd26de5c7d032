/** The obvious designs and the physical limits that the product is compared with. */
@NullMarked
package io.seckill.bench.yardstick;

import org.jspecify.annotations.NullMarked;
