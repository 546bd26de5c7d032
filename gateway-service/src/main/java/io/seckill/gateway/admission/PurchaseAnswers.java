package io.seckill.gateway.admission;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.gateway.admission.Admission.Admitted;
import io.seckill.gateway.admission.Admission.Repeated;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.web.HttpAnswer;
import io.seckill.gateway.web.HttpAnswer.Header;
import io.seckill.gateway.web.ProblemCode;

/** Converts outcomes to HTTP answers. */
final class PurchaseAnswers {

  private static final String TOO_MANY_FOR_ONE_ORDER =
      "The quantity is above what one order of this sale may have.";
  private static final int ACCEPTED = 202;

  private PurchaseAnswers() {}

  static HttpAnswer of(PurchaseAttempt attempt, Admission outcome, String correlationId) {
    if (outcome instanceof Admitted yes) {
      return accepted(attempt, yes.orderId(), OrderStatus.QUEUED, yes.position());
    } else if (outcome instanceof Repeated again) {
      return accepted(attempt, again.orderId(), again.status(), again.position());
    } else if (outcome instanceof Refusal reason) {
      return refused(reason, correlationId);
    } else if (outcome instanceof Unknown) {
      return unknown(attempt, correlationId);
    }
    return HttpAnswer.problem(ProblemCode.BUSY, correlationId);
  }

  private static HttpAnswer refused(Refusal reason, String correlationId) {
    return reason == Refusal.QUANTITY
        ? HttpAnswer.problem(reason.problem(), TOO_MANY_FOR_ONE_ORDER, correlationId)
        : HttpAnswer.problem(reason.problem(), correlationId);
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
    HttpAnswer problem = HttpAnswer.problem(ProblemCode.ADMISSION_UNAVAILABLE, correlationId);
    return problem.with(new Header("Idempotency-Key", attempt.requestId()));
  }
}
