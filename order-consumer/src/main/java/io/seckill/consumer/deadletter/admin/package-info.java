/** What operators do about dead letters: look, replay, discard. */
@NullMarked
package io.seckill.consumer.deadletter.admin;

import org.jspecify.annotations.NullMarked;
