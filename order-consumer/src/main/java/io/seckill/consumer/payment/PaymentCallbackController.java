package io.seckill.consumer.payment;

import io.seckill.common.order.OrderId;
import io.seckill.consumer.orders.OrderRow;
import io.seckill.consumer.orders.Orders;
import io.seckill.consumer.web.JsonBody;
import io.seckill.consumer.web.SignedBody;
import io.seckill.support.web.PathIds;
import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemException;
import java.util.EnumSet;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

/**
 * Receives callbacks of the payment provider, which signs them with a secret instead of sending the
 * internal token. An event takes effect once, however often it is sent.
 */
@RestController
class PaymentCallbackController {

  private static final int MAX_ID = 64;

  private final Optional<CallbackSignature> signatures;
  private final Orders orders;
  private final PaymentTable table;
  private final Payments payments;

  PaymentCallbackController(
      Optional<CallbackSignature> signatures,
      Orders orders,
      PaymentTable table,
      Payments payments) {
    this.signatures = signatures;
    this.orders = orders;
    this.table = table;
    this.payments = payments;
  }

  private enum Event {
    CHARGED
  }

  @PostMapping("/internal/v1/payments/callback")
  OrderRow callback(
      @RequestHeader(name = "X-Payment-Timestamp", required = false) @Nullable String timestamp,
      @RequestHeader(name = "X-Payment-Signature", required = false) @Nullable String signature,
      SignedBody signed) {
    CallbackSignature signatureCheck =
        signatures.orElseThrow(
            () -> ProblemException.notFound(Problem.NOT_FOUND, "No callback is expected here."));
    if (!signatureCheck.isValid(timestamp, signature, signed.bytes())) {
      throw ProblemException.of(401, "BAD_SIGNATURE", "The signature does not fit.");
    }
    return charged(signed.asJson());
  }

  private OrderRow charged(JsonBody body) {
    String eventId = asciiId(body, "eventId");
    body.oneOf("type", EnumSet.of(Event.CHARGED));
    OrderId orderId = PathIds.order(body.text("orderId", MAX_ID));
    String chargeId = asciiId(body, "chargeId");
    long amount = body.integer("amountCents", 0, Long.MAX_VALUE);
    body.end();
    OrderRow order = orders.find(orderId).orElseThrow(Orders::unknown);
    if (amount != order.amountCents()) {
      throw ProblemException.fieldConflict(
          "AMOUNT_MISMATCH", "The order costs another amount.", "amountCents");
    }
    payments.settle(order, chargeId, () -> table.firstTime(eventId, orderId));
    return orders.find(orderId).orElseThrow(Orders::unknown);
  }

  private static String asciiId(JsonBody body, String field) {
    String id = body.text(field, MAX_ID);
    if (!id.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
      throw ProblemException.invalid(field, field + " must be printable ASCII without spaces.");
    }
    return id;
  }
}
