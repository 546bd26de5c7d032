package io.seckill.consumer.storage;

/**
 * MySQL cannot store orders now: unreachable, slow, read-only, or failing internally. Whether the
 * batch is stored is unknown; storing it again is harmless.
 */
public final class DatabaseUnavailableException extends Exception {

  private static final long serialVersionUID = 1L;

  DatabaseUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }
}
