package io.seckill.consumer.reconciliation;

/**
 * Redis holds a value in a sale's hashes that no service writes. Its meaning is not guessed: the
 * sale is not compared until an operator has examined it.
 */
@SuppressWarnings("serial") // never serialized
final class UnreadableFieldException extends RuntimeException {

  private final String detail;

  UnreadableFieldException(String key, String field, Throwable cause) {
    super(key + " field " + field, cause);
    this.detail = "Redis holds something unreadable in %s, field %s.".formatted(key, field);
  }

  /** Message for operators. */
  String detail() {
    return detail;
  }
}
