package io.seckill.consumer.storage;

import org.jspecify.annotations.Nullable;

/**
 * MySQL cannot store orders now: unreachable, slow, read-only, or failing internally. Whether the
 * batch is stored is unknown; storing it again is harmless.
 */
public final class DatabaseUnavailableException extends Exception {

  private static final long serialVersionUID = 1L;

  DatabaseUnavailableException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
