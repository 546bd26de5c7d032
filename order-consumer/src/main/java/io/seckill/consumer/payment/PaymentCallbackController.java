package io.seckill.consumer.payment;

import io.seckill.common.order.OrderId;
import io.seckill.consumer.web.JsonBody;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.RequestChecks;
import io.seckill.support.web.StrictJson;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestAttribute;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

/**
 * Receives callbacks of the payment provider, which signs them with a secret instead of sending the
 * internal token. A signed callback is answered 2xx only after its report is stored.
 */
@RestController
record PaymentCallbackController(
    CallbackSignature signatures,
    ChargeReports reports,
    UnexplainedCharges unexplained,
    PaymentMeters meters) {

  private static final Logger log = LoggerFactory.getLogger(PaymentCallbackController.class);
  private static final Pattern CURRENCY = Pattern.compile("[A-Z]{3}");
  private static final Pattern ID = Pattern.compile("[!-~]{1,64}");

  /**
   * The provider has charged an order, or given money back.
   *
   * @param eventId for the log only; 1..64 printable ASCII characters without spaces, as chargeId
   * @param currency ISO 4217, only of money in another currency than the agreed one
   */
  record Event(
      String eventId,
      String type,
      String orderId,
      String chargeId,
      Long amountCents,
      @Nullable String currency) {

    Event {
      checkedId("eventId", eventId);
      RequestChecks.oneOf("type", type, ChargeReport.ReportKind.class);
      checkOrder(orderId);
      checkedId("chargeId", chargeId);
      RequestChecks.integer("amountCents", amountCents, 0, Long.MAX_VALUE);
      if (currency != null && !CURRENCY.matcher(currency).matches()) {
        throw ProblemException.invalid("currency", "currency must be an ISO 4217 code.");
      }
    }

    private static String checkedId(String field, @Nullable String id) {
      if (id == null || !ID.matcher(id).matches()) {
        throw ProblemException.invalid(
            field, field + " must be 1..64 printable ASCII characters without spaces.");
      }
      return id;
    }

    private static void checkOrder(@Nullable String id) {
      String text = checkedId("orderId", id);
      try {
        OrderId.parse(text);
      } catch (IllegalArgumentException e) {
        throw ProblemException.invalid("orderId", "orderId must be the id of an order.");
      }
    }

    ChargeReport report() {
      return new ChargeReport(
          ChargeReport.ReportKind.valueOf(type),
          chargeId,
          OrderId.parse(orderId),
          amountCents,
          currency);
    }
  }

  /** The answer to a report that an operator must decide about. */
  record Unexplained(String orderId, String chargeId, UnexplainedReason reason) {}

  @PostMapping(CallbackBodies.PATH)
  ResponseEntity<Object> callback(
      @RequestHeader(name = "X-Payment-Timestamp", required = false) @Nullable String timestamp,
      @RequestHeader(name = "X-Payment-Signature", required = false) @Nullable String signature,
      @RequestAttribute(CallbackBodies.BODY) byte[] signed) {
    if (signed.length > JsonBody.MAX_BYTES) {
      meters.callbackRefused(); // what it reports is not known, so an operator looks for it
      throw ProblemException.of(ProblemCode.PAYLOAD_TOO_LARGE);
    }
    if (!signatures.isValid(timestamp, signature, signed)) {
      meters.callbackRefused();
      throw ProblemException.of(ProblemCode.BAD_SIGNATURE);
    }
    return answer(read(signed));
  }

  private Event read(byte[] signed) {
    try {
      return StrictJson.read(signed, Event.class);
    } catch (ProblemException e) {
      unexplained.recordUnreadable(signed);
      throw e;
    }
  }

  private ResponseEntity<Object> answer(Event event) {
    ChargeReports.Judged judged = reports.judge(event.report());
    UnexplainedReason reason = judged.reason();
    if (reason == null) {
      return ResponseEntity.ok(judged.order());
    }
    log.info("payment event {} needs an operator: {}", event.eventId(), reason);
    return ResponseEntity.status(HttpStatus.ACCEPTED)
        .body(new Unexplained(event.orderId(), event.chargeId(), reason));
  }
}
