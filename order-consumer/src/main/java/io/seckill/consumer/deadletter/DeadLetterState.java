package io.seckill.consumer.deadletter;

/** OPEN until an operator decides; a replayed order that fails again is OPEN again. */
enum DeadLetterState {
  OPEN,
  REPLAYED,
  DISCARDED
}
