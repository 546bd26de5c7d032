package io.seckill.gateway.web;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * What a caller is told when the answer is no (RFC 9457).
 *
 * @param status HTTP status, 400..599
 * @param code stable, for programs: upper case letters, digits and underscores
 * @param detail one sentence for people; never the text of an exception
 * @param field the member of body, path or query that is at fault, or null
 * @param orderStatus status of the order that stands in the way, or null
 * @param saleState state of the sale that stands in the way, or null
 * @param retryAfter when trying again makes sense, or null when it does not
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
  public static final String FORBIDDEN = "FORBIDDEN";
  public static final String NOT_FOUND = "NOT_FOUND";
  public static final String UNKNOWN_SKU = "UNKNOWN_SKU";
  public static final String UNKNOWN_ORDER = "UNKNOWN_ORDER";
  public static final String BUSY = "BUSY";
  public static final String TOO_MANY_REQUESTS = "TOO_MANY_REQUESTS";

  /** 401: no token, or one that does not hold. */
  public static final Problem UNAUTHENTICATED =
      of(401, UNAUTHORIZED, "A valid bearer token is needed.");

  /** 429: more requests than the limits of a user or an address allow. */
  public static final Problem TOO_MANY =
      new Problem(
          429, TOO_MANY_REQUESTS, "Too many requests.", null, null, null, Duration.ofSeconds(1));

  /** 403: a token that holds, of somebody who is no shopper. */
  public static final Problem NOT_A_SHOPPER = of(403, FORBIDDEN, "The token is not a shopper's.");

  private static final JsonMapper JSON = JsonMapper.shared();

  /** A problem that is told by status, code and detail alone. */
  public static Problem of(int status, String code, String detail) {
    return new Problem(status, code, detail, null, null, null, null);
  }

  /**
   * The body of {@code application/problem+json}.
   *
   * @param correlationId checked or made by us, or null
   */
  public String json(@Nullable String correlationId) {
    ObjectNode json = JSON.createObjectNode();
    HttpStatus known = HttpStatus.resolve(status);
    json.put("type", "urn:seckill:problem:" + code);
    json.put("title", known == null ? "Error" : known.getReasonPhrase());
    json.put("status", status);
    json.put("code", code);
    json.put("detail", detail);
    putIfPresent(json, "field", field);
    putIfPresent(json, "orderStatus", orderStatus);
    putIfPresent(json, "saleState", saleState);
    putIfPresent(json, "correlationId", correlationId);
    return JSON.writeValueAsString(json);
  }

  /** Further headers that go with it. */
  public Map<String, String> headers() {
    if (retryAfter != null) {
      return Map.of(HttpHeaders.RETRY_AFTER, Long.toString(Math.max(1, retryAfter.toSeconds())));
    }
    return status == 401 ? Map.of(HttpHeaders.WWW_AUTHENTICATE, "Bearer") : Map.of();
  }

  private static void putIfPresent(ObjectNode json, String name, @Nullable String value) {
    if (value != null) {
      json.put(name, value);
    }
  }
}
