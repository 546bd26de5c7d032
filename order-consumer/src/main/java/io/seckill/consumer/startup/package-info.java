/** Starting while MySQL is unavailable: waiting for it, and reporting that. */
@NullMarked
package io.seckill.consumer.startup;

import org.jspecify.annotations.NullMarked;
