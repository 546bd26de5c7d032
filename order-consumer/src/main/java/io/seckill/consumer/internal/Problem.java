package io.seckill.consumer.internal;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The error response to a request (RFC 9457).
 *
 * @param status HTTP status, 400..599
 * @param code stable, for programs: upper case letters, digits and underscores
 * @param detail one sentence for people; never the text of an exception
 * @param field the member of body, path, query or header that is at fault, or null
 * @param orderStatus status of the order that prevents the request, or null
 * @param saleState state of the sale that prevents the request, or null
 * @param retryAfter delay after which a retry makes sense, or null when it does not
 */
public record Problem(
    int status,
    String code,
    String detail,
    @Nullable String field,
    @Nullable String orderStatus,
    @Nullable String saleState,
    @Nullable Duration retryAfter) {

  public static final String INVALID_REQUEST = "INVALID_REQUEST";
  public static final String UNAUTHORIZED = "UNAUTHORIZED";
  public static final String NOT_FOUND = "NOT_FOUND";
  public static final String UNKNOWN_SKU = "UNKNOWN_SKU";
  public static final String UNKNOWN_ORDER = "UNKNOWN_ORDER";
  public static final String UNKNOWN_DEAD_LETTER = "UNKNOWN_DEAD_LETTER";
  public static final String IDEMPOTENCY_KEY_REUSED = "IDEMPOTENCY_KEY_REUSED";
  public static final String UNAVAILABLE = "UNAVAILABLE";
  public static final String INTERNAL_ERROR = "INTERNAL_ERROR";
}
