/** Takes orders from the broker in batches and settles each delivery by itself. */
@NullMarked
package io.seckill.consumer.intake;

import org.jspecify.annotations.NullMarked;
