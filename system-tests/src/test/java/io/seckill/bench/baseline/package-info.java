/** The obvious designs and the physical limits that the product is compared with. */
@NullMarked
package io.seckill.bench.baseline;

import org.jspecify.annotations.NullMarked;
