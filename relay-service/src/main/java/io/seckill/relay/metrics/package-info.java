/** What the relay counts and times. */
@NullMarked
package io.seckill.relay.metrics;

import org.jspecify.annotations.NullMarked;
