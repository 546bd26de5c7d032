package io.seckill.relay.publish;

import com.rabbitmq.client.ShutdownSignalException;
import org.jspecify.annotations.Nullable;

/**
 * The broker refused, did not answer or is unavailable. The outcome of unconfirmed publishes is
 * unknown: their orders stay in the private queue and are published again.
 */
public final class BrokerFailureException extends Exception {

  private static final long serialVersionUID = 1L;

  /**
   * @param reason one line for operators, without credentials
   */
  public BrokerFailureException(String reason, @Nullable Throwable cause) {
    super(reason, cause);
  }

  /** One line for operators on a failure that the client has reported. */
  static String reason(Throwable cause) {
    if (cause instanceof ShutdownSignalException signal && signal.getReason() != null) {
      return String.valueOf(signal.getReason());
    }
    Throwable reported = cause.getCause() == null ? cause : cause.getCause();
    return reported.getMessage() == null
        ? reported.getClass().getSimpleName()
        : reported.getMessage();
  }
}
