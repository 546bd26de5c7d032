package io.seckill.consumer.lifecycle;

import org.jspecify.annotations.Nullable;

/** The payment provider did not answer: what it was asked for may or may not have been done. */
final class PaymentUnavailableException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  PaymentUnavailableException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
