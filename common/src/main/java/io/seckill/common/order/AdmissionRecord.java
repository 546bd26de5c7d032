package io.seckill.common.order;

import org.jspecify.annotations.Nullable;

/**
 * The record of one admitted order in Redis, in the field {@code <orderId>} of the user's bucket:
 * {@code user|quantity|seq|admittedAt|epoch|status[reason]|changedAt[|storedOrderId]}, {@code
 * changedAt} empty when it equals admittedAt. The record is short because a sale has one for every
 * order, and a hash stays packed only with values up to 128 bytes. The idempotency key is in the
 * field of the request alone.
 *
 * @param requestId idempotency key of the purchase; null for an alias, and where the field of the
 *     request was not read, or does not exist
 * @param seq sequence number of the admission within the SKU
 * @param admittedAt Redis's clock, Unix ms
 * @param epoch the sale's epoch at admission; of a dead letter that a loading reserved units for,
 *     that of the loading
 * @param status latest result known to Redis
 * @param reason only with REJECTED
 * @param changedAt Unix ms of the latest result; while QUEUED the time of the latest publish that
 *     {@code admit.lua} caused: admittedAt, or that of a repeat
 * @param storedOrderId the order that MySQL stores for the same request when this one is its alias,
 *     else null
 */
public record AdmissionRecord(
    long userId,
    @Nullable String requestId,
    int quantity,
    long seq,
    long admittedAt,
    long epoch,
    OrderStatus status,
    @Nullable RejectReason reason,
    long changedAt,
    @Nullable OrderId storedOrderId) {

  private static final int PARTS = 7;
  private static final char ALIAS = 'A';

  /** The record that {@code admit.lua} writes for a purchase. */
  public static AdmissionRecord queued(OrderMessage message) {
    return new AdmissionRecord(
        message.userId(),
        message.requestId(),
        message.quantity(),
        message.seq(),
        message.admittedAt(),
        message.epoch(),
        OrderStatus.QUEUED,
        null,
        message.admittedAt(),
        null);
  }

  /**
   * Returns the record without its idempotency key.
   *
   * @throws IllegalArgumentException when the text is not a record
   */
  public static AdmissionRecord parse(String text) {
    String[] part = text.split("\\|", -1);
    if (part.length < PARTS || part.length > PARTS + 1 || part[5].isEmpty()) {
      throw new IllegalArgumentException("not an admission record");
    }
    OrderStatus status = OrderStatus.ofLetter(part[5].charAt(0));
    long admittedAt = Long.parseLong(part[3]);
    boolean alias = part.length > PARTS;
    return new AdmissionRecord(
        Long.parseLong(part[0]),
        null,
        Integer.parseInt(part[1]),
        Long.parseLong(part[2]),
        admittedAt,
        Long.parseLong(part[4]),
        status,
        part[5].length() == 1 || alias ? null : RejectReason.ofLetter(part[5].charAt(1)),
        part[6].isEmpty() ? admittedAt : Long.parseLong(part[6]),
        alias ? OrderId.parse(part[7]) : null);
  }

  public AdmissionRecord withRequest(String key) {
    return new AdmissionRecord(
        userId, key, quantity, seq, admittedAt, epoch, status, reason, changedAt, storedOrderId);
  }

  /** The text form, as stored in Redis. */
  public String format() {
    StringBuilder text = new StringBuilder(96);
    text.append(userId).append('|').append(quantity);
    text.append('|').append(seq).append('|').append(admittedAt).append('|').append(epoch);
    text.append('|').append(result(status, reason, storedOrderId)).append('|');
    if (changedAt != admittedAt) {
      text.append(changedAt);
    }
    if (storedOrderId != null) {
      text.append('|').append(storedOrderId);
    }
    return text.toString();
  }

  /** The order message that {@code admit.lua} pushed, without its traceparent. */
  public OrderMessage message(OrderId id, long skuId, String requestKey, PurchasePolicy policy) {
    return new OrderMessage(
        id, userId, skuId, quantity, requestKey, policy, epoch, seq, admittedAt, null);
  }

  /**
   * Status letter and its qualifier, if any: {@code Q}, {@code C}, {@code RS}, {@code RA}, ...
   *
   * @param storedOrderId only of an alias
   */
  public static String result(
      OrderStatus status, @Nullable RejectReason reason, @Nullable OrderId storedOrderId) {
    if (storedOrderId != null) {
      return "" + status.letter() + ALIAS;
    }
    return reason == null ? "" + status.letter() : "" + status.letter() + reason.letter();
  }
}
