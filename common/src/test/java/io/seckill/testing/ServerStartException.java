package io.seckill.testing;

import org.jspecify.annotations.Nullable;

/**
 * A test server could not be started; the message says which, why, and what its log says or which
 * package to install.
 */
public final class ServerStartException extends RuntimeException {

  ServerStartException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
