package io.seckill.gateway.admission;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.gateway.admission.Admission.Admitted;
import io.seckill.gateway.admission.Admission.Repeated;
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

  static HttpAnswer of(PurchaseAttempt attempt, Admission outcome, String correlationId) {
    if (outcome instanceof Admitted yes) {
      return accepted(attempt, yes.orderId(), OrderStatus.QUEUED, yes.position());
    } else if (outcome instanceof Repeated again) {
      return accepted(attempt, again.orderId(), again.status(), again.position());
    } else if (outcome instanceof Refusal reason) {
      return HttpAnswer.problem(reason.problem(), correlationId);
    } else if (outcome instanceof Unknown) {
      return unknown(attempt, correlationId);
    }
    return HttpAnswer.problem(BUSY, correlationId);
  }

  private static HttpAnswer accepted(
      PurchaseAttempt attempt, OrderId orderId, OrderStatus status, long position) {
    String id = orderId.toString();
    StringBuilder json = new StringBuilder(96);
    json.append("{\"orderId\":\"").append(id);
    json.append("\",\"status\":\"").append(status);
    json.append("\",\"position\":").append(position == 0 ? "null" : Long.toString(position));
    json.append('}');
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
