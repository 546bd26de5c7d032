package io.seckill.consumer.sales;

/**
 * The state of a change. Addition: PENDING, MYSQL_DONE, DONE. Withdrawal: PENDING, while Redis is
 * asked for the units, then DONE or REFUSED; UNDOING returns the units to Redis when MySQL has
 * less. Of a sale that only MySQL has: PENDING, then DONE or REFUSED.
 */
enum ChangeState {
  PENDING,
  MYSQL_DONE,
  UNDOING,
  DONE,
  REFUSED;

  boolean isFinal() {
    return this == DONE || this == REFUSED;
  }
}
