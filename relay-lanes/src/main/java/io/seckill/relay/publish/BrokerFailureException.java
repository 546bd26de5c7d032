package io.seckill.relay.publish;

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
}
