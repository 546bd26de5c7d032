package io.seckill.gateway.backends;

import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;

/** The origin of a call, which decides the problem when order-consumer does not answer. */
enum Requester {
  GATEWAY("The order service cannot be reached at the moment; the same request may be repeated."),
  OPERATOR(
      "order-consumer is not available; pause and close still work. Repeat the call when it"
          + " answers: it may have been carried out.");

  private final String detail;

  Requester(String detail) {
    this.detail = detail;
  }

  ProblemException unavailable() {
    return ProblemException.of(ProblemCode.DATABASE_UNAVAILABLE, detail);
  }
}
