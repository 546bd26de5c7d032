package io.seckill.support.web;

import java.net.URI;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Why a request was refused or failed; the names are stable and part of the API. */
public enum ProblemCode {
  INVALID_REQUEST(400, "The request is not valid"),
  UNAUTHORIZED(401, "A valid bearer token is needed"),
  BAD_SIGNATURE(401, "The signature is missing, too old or wrong"),
  FORBIDDEN(403, "The token does not allow this"),
  NOT_FOUND(404, "There is nothing at this address"),
  UNKNOWN_SKU(404, "There is no such SKU"),
  UNKNOWN_ORDER(404, "There is no such order"),
  UNKNOWN_DEAD_LETTER(404, "There is no such dead letter"),
  UNKNOWN_CHARGE(404, "There is no such charge"),
  METHOD_NOT_ALLOWED(405, "The address does not take this method"),
  NOT_ACCEPTABLE(406, "The answer has none of the accepted types"),
  NOT_OPEN(409, "The sale has not opened yet"),
  PAUSED(409, "The sale is paused"),
  CLOSED(409, "The sale is over"),
  SOLD_OUT(409, "No unit is left"),
  /** A purchase of fewer units may succeed. */
  TOO_FEW_LEFT(409, "Fewer units are left than were asked for"),
  QUOTA_EXCEEDED(409, "The limit per user would be exceeded"),
  NOT_PAYABLE(409, "The order cannot be paid"),
  NOT_CANCELLABLE(409, "The order cannot be cancelled"),
  PAYMENT_DECLINED(409, "The payment was declined"),
  INSUFFICIENT_FUNDS(409, "The balance is too low"),
  WALLET_FROZEN(409, "The wallet is frozen"),
  BALANCE_LIMIT(409, "The balance would be too high"),
  REFUND_EXCEEDS_CHARGE(409, "Less of the charge is left than would be refunded"),
  CHARGE_CLOSED(409, "The charge is closed"),
  ILLEGAL_TRANSITION(409, "The state of the sale does not allow this"),
  IMMUTABLE_AFTER_PREHEAT(409, "This cannot change after the first preheat"),
  EDIT_CONFLICT(409, "The product has been changed meanwhile"),
  SALE_RUNNING(409, "The sale is running"),
  NOT_AT_REST(409, "The sale is not at rest"),
  ARCHIVED(409, "The sale is archived"),
  ORDERS_IN_FLIGHT(409, "Orders of this SKU are still on their way to MySQL"),
  PREHEAT_OVERTAKEN(
      409, "Another loading of this SKU has begun, or another Redis server has taken over"),
  NOT_PREHEATED(409, "Redis does not hold this sale"),
  FOREIGN_KEY(409, "Redis holds something else at a key of this sale"),
  REDIS_BEHIND(409, "Redis has lost orders of this sale"),
  UNSAFE_REDIS(409, "Redis may lose orders"),
  UNREADABLE_IN_REDIS(409, "Redis holds a field that no service writes"),
  RECONCILIATION_RUNNING(409, "This SKU is being reconciled already"),
  DEAD_LETTER_RESOLVED(409, "The dead letter is resolved already"),
  /** Only the beginning of the dead letter's message was kept. */
  CUT(409, "The message is incomplete"),
  UNREADABLE(409, "The message cannot be read"),
  /** A refusal that has no code of its own here. */
  REFUSED(409, "The request is refused"),
  PAYLOAD_TOO_LARGE(413, "The request body is too large"),
  URI_TOO_LONG(414, "The request line is too long"),
  UNSUPPORTED_MEDIA_TYPE(415, "The body must be application/json"),
  EXPECTATION_FAILED(417, "The expectation cannot be met"),
  IDEMPOTENCY_KEY_REUSED(422, "The idempotency key was used for another request"),
  TOO_MANY_REQUESTS(429, "Too many requests"),
  HEADERS_TOO_LARGE(431, "The request headers are too large"),
  INTERNAL_ERROR(500, "The request could not be handled"),
  NOT_IMPLEMENTED(501, "The transfer coding is not known"),
  VERSION_NOT_SUPPORTED(505, "The version of HTTP is not supported"),
  /**
   * Not handled, because too many others are. For a purchase: this request was not sent to Redis
   * and took nothing. Whether an earlier one with the same key took units is not known here.
   */
  BUSY(503, "Too many requests at the same time"),
  /** Units may have been taken; repeating the purchase with the same key shows it. */
  ADMISSION_UNAVAILABLE(503, "The outcome is not known; repeat with the same idempotency key"),
  STATUS_UNAVAILABLE(503, "The order cannot be looked up at the moment"),
  REDIS_UNAVAILABLE(503, "Redis does not answer"),
  MYSQL_UNAVAILABLE(503, "MySQL does not answer"),
  STORES_UNAVAILABLE(503, "Redis or MySQL does not answer"),
  /** order-consumer is unavailable, too slow, or sent an invalid answer. */
  DATABASE_UNAVAILABLE(503, "The order service does not answer"),
  /** Money may have moved; repeating the operation with the same key shows it. */
  WALLET_UNAVAILABLE(503, "The outcome is not known; repeat with the same idempotency key"),
  UNAVAILABLE(503, "The request cannot be handled at the moment");

  private final int status;
  private final String title;
  private final URI type = URI.create("urn:seckill:problem:" + name());

  ProblemCode(int status, String title) {
    this.status = status;
    this.title = title;
  }

  /** The code of a request that the web framework itself refuses with this status, or fails. */
  public static ProblemCode ofStatus(int status) {
    return switch (status) {
      case 400 -> INVALID_REQUEST;
      case 404 -> NOT_FOUND;
      case 405 -> METHOD_NOT_ALLOWED;
      case 406 -> NOT_ACCEPTABLE;
      case 413 -> PAYLOAD_TOO_LARGE;
      case 415 -> UNSUPPORTED_MEDIA_TYPE;
      case 503 -> UNAVAILABLE;
      default -> status < 500 ? REFUSED : INTERNAL_ERROR;
    };
  }

  /** The code with this name and status; that of the status when there is none. */
  public static ProblemCode of(int status, @Nullable String name) {
    return Arrays.stream(values())
        .filter(code -> code.status == status && code.name().equals(name))
        .findFirst()
        .orElse(ofStatus(status));
  }

  public int status() {
    return status;
  }

  public String title() {
    return title;
  }

  URI type() {
    return type;
  }
}
