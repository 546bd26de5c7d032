/** Operators' actions on dead letters: show, replay, discard. */
@NullMarked
package io.seckill.consumer.deadletter.admin;

import org.jspecify.annotations.NullMarked;
