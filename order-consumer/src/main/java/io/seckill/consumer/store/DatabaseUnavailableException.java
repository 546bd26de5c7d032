package io.seckill.consumer.store;

/**
 * MySQL cannot take orders now: away, slow, read-only, or at odds with itself. Whether the batch is
 * stored is unknown; storing it again is harmless.
 */
public final class DatabaseUnavailableException extends Exception {

  private static final long serialVersionUID = 1L;

  DatabaseUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }
}
