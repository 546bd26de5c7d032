package io.seckill.gateway.admission;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.gateway.admission.Admission.Busy;
import io.seckill.gateway.admission.Admission.Queued;
import io.seckill.gateway.admission.Admission.Stored;
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

  /** A primary that has failed needs some seconds to be replaced. */
  private static final Header RETRY_LATER = new Header("Retry-After", "5");

  private static final int CREATED = 201;
  private static final int ACCEPTED = 202;
  private static final String MYSQL = "MYSQL";

  private PurchaseAnswers() {}

  /** {@code durableIn} is the place of every order that is answered as queued. */
  static HttpAnswer of(
      PurchaseAttempt attempt,
      Admission outcome,
      Durability.Store durableIn,
      String correlationId) {
    if (outcome instanceof Queued order) {
      return answer(
          ACCEPTED, attempt, order.orderId(), order.status(), order.position(), durableIn.name());
    } else if (outcome instanceof Stored order) {
      // Rejected: Redis had admitted it before a fallback. 201 promises an order.
      int httpStatus = order.status() == OrderStatus.REJECTED ? ACCEPTED : CREATED;
      return answer(httpStatus, attempt, order.orderId(), order.status(), 0, MYSQL);
    } else if (outcome instanceof Refusal reason) {
      return HttpAnswer.problem(reason.problem(), correlationId);
    } else if (outcome instanceof Unknown) {
      return unknown(attempt, correlationId);
    }
    HttpAnswer busy = HttpAnswer.problem(BUSY, correlationId);
    return outcome == Busy.WITHOUT_A_SHARD ? busy.with(RETRY_LATER) : busy;
  }

  /** A position of 0 is none. */
  private static HttpAnswer answer(
      int httpStatus,
      PurchaseAttempt attempt,
      OrderId orderId,
      OrderStatus status,
      long position,
      String durableIn) {
    String id = orderId.toString();
    StringBuilder json = new StringBuilder(112);
    json.append("{\"orderId\":\"").append(id);
    json.append("\",\"status\":\"").append(status);
    json.append("\",\"position\":").append(position == 0 ? "null" : Long.toString(position));
    json.append(",\"durableIn\":\"").append(durableIn).append("\"}");
    return HttpAnswer.json(
        httpStatus,
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
