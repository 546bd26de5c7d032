package io.seckill.testing;

import org.jspecify.annotations.Nullable;

/**
 * A test server could not be started. The message names the server and the reason, and contains the
 * end of its log or the package to install.
 */
public final class ServerStartException extends RuntimeException {

  ServerStartException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
