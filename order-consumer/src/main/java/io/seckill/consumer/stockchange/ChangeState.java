package io.seckill.consumer.stockchange;

/**
 * How far a change has come. Addition: PENDING, MYSQL_DONE, DONE. Withdrawal: PENDING, in which
 * Redis is asked, then DONE or REFUSED; UNDOING puts back what Redis gave when MySQL has less.
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
