package io.seckill.gateway.admission;

import io.seckill.gateway.admission.Admission.Queued;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.web.HttpAnswer;
import io.seckill.gateway.web.HttpAnswer.Header;
import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemCode;

/** Converts outcomes to HTTP answers. */
final class PurchaseAnswers {

  private static final Problem BUSY =
      Problem.of(ProblemCode.BUSY, "Repeat with the same idempotency key.");
  private static final Problem UNKNOWN = Problem.of(ProblemCode.ADMISSION_UNAVAILABLE);
  private static final int ACCEPTED = 202;

  private PurchaseAnswers() {}

  /**
   * @param durableIn what has every order that is answered as queued
   */
  static HttpAnswer of(
      PurchaseAttempt attempt,
      Admission outcome,
      Durability.Store durableIn,
      String correlationId) {
    if (outcome instanceof Queued order) {
      return accepted(attempt, order, durableIn);
    } else if (outcome instanceof Refusal reason) {
      return HttpAnswer.problem(reason.problem(), correlationId);
    } else if (outcome instanceof Unknown) {
      return unknown(attempt, correlationId);
    }
    return HttpAnswer.problem(BUSY, correlationId);
  }

  private static HttpAnswer accepted(
      PurchaseAttempt attempt, Queued order, Durability.Store durableIn) {
    String id = order.orderId().toString();
    StringBuilder json = new StringBuilder(112);
    json.append("{\"orderId\":\"").append(id);
    json.append("\",\"status\":\"").append(order.status());
    json.append("\",\"position\":")
        .append(order.position() == 0 ? "null" : Long.toString(order.position()));
    json.append(",\"durableIn\":\"").append(durableIn).append("\"}");
    return HttpAnswer.json(
        ACCEPTED,
        json.toString(),
        new Header("Location", "/api/v1/orders/" + id),
        new Header("Idempotency-Key", attempt.requestId()));
  }

  /** Also returns the idempotency key: a shopper who sent none needs it to repeat the purchase. */
  private static HttpAnswer unknown(PurchaseAttempt attempt, String correlationId) {
    HttpAnswer problem = HttpAnswer.problem(UNKNOWN, correlationId);
    return problem.with(new Header("Idempotency-Key", attempt.requestId()));
  }
}
