package io.seckill.common.payment;

import org.jspecify.annotations.Nullable;

/**
 * The outcome of a call to the payment provider is unknown: it may or may not have taken effect. It
 * is not a refusal; order-consumer calls again.
 */
public final class PaymentUnavailableException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  public PaymentUnavailableException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
