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
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The reply of {@code admit.lua} to one call.
 *
 * @param purchases in the order of the call; empty if another server was reached, which decides
 *     nothing
 * @param skus those that admitted something
 * @param confirmed whether enough replicas have received the writes that the reply reports
 */
record AdmitReply(List<ScriptReply> purchases, List<AdmittedSku> skus, boolean confirmed) {

  private static final AdmitReply OTHER_SERVER = new AdmitReply(List.of(), List.of(), false);

  static AdmitReply parse(Object reply, boolean confirmed, List<OrderId> sent) {
    if (reply instanceof Long) {
      return OTHER_SERVER;
    }
    List<?> texts = (List<?>) reply;
    List<ScriptReply> purchases = new ArrayList<>(sent.size());
    for (int i = 0; i < sent.size(); i++) {
      purchases.add(ScriptReply.parse((String) texts.get(i), sent.get(i)));
    }
    List<AdmittedSku> skus =
        texts.subList(sent.size(), texts.size()).stream()
            .map(text -> AdmittedSku.parse((String) text))
            .toList();
    return new AdmitReply(purchases, skus, confirmed);
  }

  boolean isOfOtherServer() {
    return purchases.isEmpty();
  }

  /**
   * The reply of {@code admit.lua} for a SKU with admissions in a call.
   *
   * @param seq highest sequence number; the orders of the call have consecutive ones
   * @param units admitted in this epoch, with the orders that Redis was loaded with
   * @param admittedAt Redis's clock, Unix ms
   */
  record AdmittedSku(
      long skuId, long epoch, long seq, long units, PurchasePolicy policy, long admittedAt) {

    private static final int PARTS = 6;

    static AdmittedSku parse(String text) {
      String[] part = text.split("\\|", PARTS);
      return new AdmittedSku(
          Long.parseLong(part[0]),
          Long.parseLong(part[1]),
          Long.parseLong(part[2]),
          Long.parseLong(part[3]),
          PurchasePolicy.valueOf(part[4]),
          Long.parseLong(part[5]));
    }

    /** The message that the script has pushed for this attempt, without its traceparent. */
    OrderMessage order(OrderId id, PurchaseAttempt attempt, long itsSeq) {
      return new OrderMessage(
          id,
          attempt.userId(),
          skuId,
          attempt.quantity(),
          attempt.requestId(),
          policy,
          epoch,
          itsSeq,
          admittedAt,
          null);
    }
  }

  /**
   * The reply of {@code admit.lua} to one purchase, parsed once.
   *
   * @param message the order message that the call pushed to a private queue; null if it pushed
   *     none
   * @param record the admission record of a {@link Repeated} order; null for all others, and if
   *     Redis has none
   */
  record ScriptReply(
      Admission outcome, @Nullable String message, @Nullable AdmissionRecord record) {

    private static final Logger log = LoggerFactory.getLogger(ScriptReply.class);

    /** Nothing before a message contains a brace. */
    private static final String MESSAGE_START = "|{";

    /** Most purchases of a sale get it. */
    private static final ScriptReply SOLD_OUT = of(Refusal.SOLD_OUT);

    static ScriptReply parse(String text, OrderId sent) {
      return switch (text.charAt(0)) {
        case 'A' -> admitted(text, sent);
        case 'S' -> repeated(text);
        case 'K' -> of(Refusal.IDEMPOTENCY_KEY_REUSED);
        case 'U' -> of(Refusal.UNKNOWN_SKU);
        case 'N' -> of(Refusal.NOT_OPEN);
        case 'P' -> of(Refusal.PAUSED);
        case 'C' -> of(Refusal.CLOSED);
        case 'I' -> of(Refusal.QUANTITY);
        case 'Q' -> of(Refusal.QUOTA_EXCEEDED);
        case 'O' -> SOLD_OUT;
        case 'F' -> of(Refusal.TOO_FEW_LEFT);
        case 'B' -> of(Unknown.BROKEN_DATA);
        case 'E' -> of(Unknown.OLD_EPOCH);
        default -> throw new IllegalStateException("admit.lua and its caller disagree: " + text);
      };
    }

    private static ScriptReply of(Admission outcome) {
      return new ScriptReply(outcome, null, null);
    }

    /** Parses {@code A|position[|message]}. */
    private static ScriptReply admitted(String text, OrderId sent) {
      int message = text.indexOf(MESSAGE_START);
      int end = message < 0 ? text.length() : message;
      return new ScriptReply(
          new Admitted(sent, Long.parseLong(text, 2, end, 10)), message(text, message), null);
    }

    /**
     * Parses {@code S|order id|settled|record[|message]}. If the record is missing, which none of
     * our scripts causes, the order is still valid and only its position is lost. An unreadable
     * reply means broken data of this one order; the rest of its batch is answered normally.
     */
    private static ScriptReply repeated(String text) {
      int messageStart = text.indexOf(MESSAGE_START);
      String message = message(text, messageStart);
      try {
        int idEnd = text.indexOf('|', 2);
        int settledEnd = text.indexOf('|', idEnd + 1);
        OrderId orderId = OrderId.parse(text.substring(2, idEnd));
        if (settledEnd + 1 == text.length()) {
          return new ScriptReply(new Repeated(orderId, OrderStatus.QUEUED, 1), message, null);
        }
        int recordEnd = messageStart < 0 ? text.length() : messageStart;
        AdmissionRecord record = AdmissionRecord.parse(text.substring(settledEnd + 1, recordEnd));
        if (record.storedOrderId() != null) { // its REJECTED is that of the second order
          return new ScriptReply(new Aliased(orderId), message, null);
        }
        OrderStatus status = record.status();
        boolean waits = status == OrderStatus.QUEUED || status == OrderStatus.DELAYED;
        long settled = Long.parseLong(text, idEnd + 1, settledEnd, 10);
        long position = waits ? Math.max(1, record.seq() - settled) : 0;
        return new ScriptReply(new Repeated(orderId, status, position), message, record);
      } catch (IllegalArgumentException e) {
        log.error("the record of an order is unreadable: {}", text, e);
        return new ScriptReply(Unknown.BROKEN_DATA, message, null);
      }
    }

    private static @Nullable String message(String text, int start) {
      return start < 0 ? null : text.substring(start + 1);
    }

    boolean isAdmitted() {
      return outcome instanceof Admitted;
    }

    /**
     * The order of a repeat that Redis has no result of: another gateway, which may be gone, got it
     * first. Null for every other reply.
     */
    @Nullable OrderMessage stillQueued(PurchaseAttempt attempt, PurchasePolicy policy) {
      if (record == null
          || !(outcome instanceof Repeated order)
          || order.status() != OrderStatus.QUEUED) {
        return null;
      }
      return record.message(order.orderId(), attempt.skuId(), attempt.requestId(), policy);
    }
  }
}
