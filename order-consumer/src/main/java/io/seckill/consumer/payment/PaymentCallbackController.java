package io.seckill.consumer.payment;

import io.seckill.common.order.OrderId;
import io.seckill.consumer.orders.OrderRow;
import io.seckill.consumer.orders.Orders;
import io.seckill.consumer.web.JsonBody;
import io.seckill.support.web.PathIds;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.RequestChecks;
import io.seckill.support.web.SingleLine;
import io.seckill.support.web.StrictJson;
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

  private static final String CHARGED = "CHARGED";
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

  /**
   * The provider has charged an order.
   *
   * @param eventId 1..64 printable ASCII characters without spaces, as chargeId
   */
  record Charge(String eventId, String type, String orderId, String chargeId, Long amountCents) {

    Charge {
      checkId("eventId", eventId);
      if (!CHARGED.equals(type)) {
        throw ProblemException.invalid("type", "type must be " + CHARGED + ".");
      }
      SingleLine.checked("orderId", orderId, MAX_ID);
      checkId("chargeId", chargeId);
      RequestChecks.integer("amountCents", amountCents, 0, Long.MAX_VALUE);
    }

    private static void checkId(String field, String id) {
      if (!SingleLine.checked(field, id, MAX_ID).chars().allMatch(c -> c > ' ' && c < 0x7f)) {
        throw ProblemException.invalid(field, field + " must be printable ASCII without spaces.");
      }
    }
  }

  @PostMapping("/internal/v1/payments/callback")
  OrderRow callback(
      @RequestHeader(name = "X-Payment-Timestamp", required = false) @Nullable String timestamp,
      @RequestHeader(name = "X-Payment-Signature", required = false) @Nullable String signature,
      @JsonBody byte[] signed) {
    CallbackSignature signatureCheck =
        signatures.orElseThrow(
            () -> ProblemException.of(ProblemCode.NOT_FOUND, "No callback is expected here."));
    if (!signatureCheck.isValid(timestamp, signature, signed)) {
      throw ProblemException.of(ProblemCode.BAD_SIGNATURE);
    }
    return charged(StrictJson.read(signed, Charge.class));
  }

  private OrderRow charged(Charge charge) {
    OrderId orderId = PathIds.order(charge.orderId());
    OrderRow order = orders.find(orderId).orElseThrow(Orders::unknown);
    if (charge.amountCents() != order.amountCents()) {
      throw ProblemException.ofField(
          ProblemCode.AMOUNT_MISMATCH, "The order costs another amount.", "amountCents");
    }
    payments.settle(orderId, charge.chargeId(), () -> table.firstTime(charge.eventId(), orderId));
    return orders.find(orderId).orElseThrow(Orders::unknown);
  }
}
