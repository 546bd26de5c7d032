package io.seckill.consumer.deadletter.admin;

/** OPEN until an operator decides; a replayed order that fails again is OPEN again. */
enum LetterState {
  OPEN,
  REPLAYED,
  DISCARDED
}
