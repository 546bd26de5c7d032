package io.seckill.gateway.web;

/** Why a call was refused or failed; the names are stable and part of the API. */
public enum ProblemCode {
  INVALID_REQUEST(400, "The request is not valid", 0),
  UNAUTHORIZED(401, "A valid bearer token is needed", 0),
  FORBIDDEN(403, "The token does not allow this", 0),
  NOT_FOUND(404, "There is no such resource", 0),
  UNKNOWN_SKU(404, "There is no such SKU on sale", 0),
  METHOD_NOT_ALLOWED(405, "The resource does not know this method", 0),
  NOT_OPEN(409, "The sale has not opened yet", 0),
  PAUSED(409, "The sale is paused", 0),
  CLOSED(409, "The sale is over", 0),
  SOLD_OUT(409, "Not enough units are left", 0),
  QUOTA_EXCEEDED(409, "The limit per user would be exceeded", 0),
  PAYLOAD_TOO_LARGE(413, "The request body is too large", 0),
  IDEMPOTENCY_KEY_REUSED(422, "The idempotency key was used for another purchase", 0),
  TOO_MANY_REQUESTS(429, "Too many requests", 1),
  INTERNAL_ERROR(500, "The request could not be handled", 0),
  /**
   * This request was not sent to Redis and took nothing. Whether an earlier one with the same key
   * took units is not known here; repeating the call with that key finds out.
   */
  BUSY(503, "Too many purchases at the moment; repeat with the same idempotency key", 1),
  /** It is not known whether units were taken; repeating the call with the same key finds out. */
  ADMISSION_UNAVAILABLE(503, "The outcome is not known; repeat with the same idempotency key", 1);

  private final int status;
  private final String title;
  private final int retryAfterSeconds;

  ProblemCode(int status, String title, int retryAfterSeconds) {
    this.status = status;
    this.title = title;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  public int status() {
    return status;
  }

  public String title() {
    return title;
  }

  /** Value of Retry-After in seconds; 0 when there is none. */
  int retryAfterSeconds() {
    return retryAfterSeconds;
  }
}
