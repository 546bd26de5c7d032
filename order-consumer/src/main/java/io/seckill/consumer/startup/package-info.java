/** Starting while MySQL is away: waiting for it, and saying so. */
@NullMarked
package io.seckill.consumer.startup;

import org.jspecify.annotations.NullMarked;
