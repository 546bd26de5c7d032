package io.seckill.gateway.admission;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.gateway.admission.Admission.Admitted;
import io.seckill.gateway.admission.Admission.Aliased;
import io.seckill.gateway.admission.Admission.Repeated;
import io.seckill.gateway.admission.Admission.Unknown;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Parses the replies of {@code admit.lua} for one purchase. */
final class ScriptReplies {

  private static final Logger log = LoggerFactory.getLogger(ScriptReplies.class);

  /** Nothing before a message contains a brace. */
  private static final String MESSAGE_START = "|{";

  private ScriptReplies() {}

  /**
   * @param sent the order id that was sent with the purchase
   */
  static Admission read(String reply, OrderId sent) {
    return switch (reply.charAt(0)) {
      case 'A' -> new Admitted(sent, Long.parseLong(reply, 2, positionEnd(reply), 10));
      case 'S' -> repeated(reply);
      case 'K' -> Refusal.IDEMPOTENCY_KEY_REUSED;
      case 'U' -> Refusal.UNKNOWN_SKU;
      case 'N' -> Refusal.NOT_OPEN;
      case 'P' -> Refusal.PAUSED;
      case 'C' -> Refusal.CLOSED;
      case 'I' -> Refusal.QUANTITY;
      case 'Q' -> Refusal.QUOTA_EXCEEDED;
      case 'O' -> Refusal.SOLD_OUT;
      case 'F' -> Refusal.TOO_FEW_LEFT;
      case 'B' -> Unknown.BROKEN_DATA;
      case 'E' -> Unknown.OLD_EPOCH;
      default -> throw new IllegalStateException("admit.lua and its caller disagree: " + reply);
    };
  }

  static boolean isAdmitted(String reply) {
    return reply.charAt(0) == 'A';
  }

  /** The order message that the call pushed to a private queue; null if it pushed none. */
  static @Nullable String message(String reply) {
    int start = reply.indexOf(MESSAGE_START);
    return start < 0 ? null : reply.substring(start + 1);
  }

  /**
   * The order of a repeat that Redis has no result of: another gateway, which may be gone, got it
   * first. Null for every other reply.
   */
  static @Nullable OrderMessage stillQueued(
      String reply, PurchaseAttempt attempt, PurchasePolicy policy) {
    if (reply.charAt(0) != 'S' || !(repeated(reply) instanceof Repeated order)) {
      return null;
    }
    int settledEnd = reply.indexOf('|', reply.indexOf('|', 2) + 1);
    if (order.status() != OrderStatus.QUEUED || settledEnd + 1 == reply.length()) {
      return null;
    }
    AdmissionRecord record = record(reply, settledEnd);
    return new OrderMessage(
        order.orderId(),
        record.userId(),
        attempt.skuId(),
        record.quantity(),
        attempt.requestId(),
        policy,
        record.epoch(),
        record.seq(),
        record.admittedAt(),
        null);
  }

  private static AdmissionRecord record(String reply, int settledEnd) {
    int message = reply.indexOf(MESSAGE_START);
    int recordEnd = message < 0 ? reply.length() : message;
    return AdmissionRecord.parse(reply.substring(settledEnd + 1, recordEnd));
  }

  private static int positionEnd(String admitted) {
    int end = admitted.indexOf('|', 2);
    return end < 0 ? admitted.length() : end;
  }

  /**
   * Parses {@code S|order id|settled|record[|message]}. If the record is missing, which none of our
   * scripts causes, the order is still valid and only its position is lost. An unreadable reply
   * means broken data of this one order; the rest of its batch is answered normally.
   */
  private static Admission repeated(String reply) {
    try {
      int idEnd = reply.indexOf('|', 2);
      int settledEnd = reply.indexOf('|', idEnd + 1);
      OrderId orderId = OrderId.parse(reply.substring(2, idEnd));
      if (settledEnd + 1 == reply.length()) {
        return new Repeated(orderId, OrderStatus.QUEUED, 1);
      }
      AdmissionRecord record = record(reply, settledEnd);
      if (record.storedOrderId() != null) { // its REJECTED is that of the second order
        return new Aliased(orderId);
      }
      OrderStatus status = record.status();
      boolean waits = status == OrderStatus.QUEUED || status == OrderStatus.DELAYED;
      long settled = Long.parseLong(reply, idEnd + 1, settledEnd, 10);
      return new Repeated(orderId, status, waits ? Math.max(1, record.seq() - settled) : 0);
    } catch (IllegalArgumentException e) {
      log.error("the record of an order is unreadable: {}", reply, e);
      return Unknown.BROKEN_DATA;
    }
  }
}
