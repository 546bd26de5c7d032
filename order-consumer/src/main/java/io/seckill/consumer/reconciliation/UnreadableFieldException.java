package io.seckill.consumer.reconciliation;

/**
 * Redis holds something in a sale's hashes that none of us writes. What it means is not guessed:
 * the sale is not compared until somebody has looked.
 */
@SuppressWarnings("serial") // never serialized
final class UnreadableFieldException extends RuntimeException {

  private final String detail;

  UnreadableFieldException(String key, String field, Throwable cause) {
    super(key + " field " + field, cause);
    this.detail = "Redis holds something unreadable in %s, field %s.".formatted(key, field);
  }

  /** For operators. */
  String detail() {
    return detail;
  }
}
