package io.seckill.support.web;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ProblemDetail;
import org.springframework.http.converter.json.ProblemDetailJacksonMixin;
import tools.jackson.databind.json.JsonMapper;

/**
 * The response to a request that is refused or fails (RFC 9457).
 *
 * @param detail what the code's title does not say, for people; never the text of an exception
 * @param field the member of body, path, query or header that is at fault, or null
 * @param orderStatus status of the order that prevents the request, or null
 * @param saleState state of the sale that prevents the request, or null
 */
public record Problem(
    ProblemCode code,
    @Nullable String detail,
    @Nullable String field,
    @Nullable String orderStatus,
    @Nullable String saleState) {

  private static final JsonMapper JSON =
      JsonMapper.builder().addMixIn(ProblemDetail.class, ProblemDetailJacksonMixin.class).build();

  /** A problem about which its code says everything. */
  public static Problem of(ProblemCode code) {
    return new Problem(code, null, null, null, null);
  }

  public static Problem of(ProblemCode code, String detail) {
    return new Problem(code, detail, null, null, null);
  }

  public int status() {
    return code.status();
  }

  /** For people: the detail, or the code's title when there is none. */
  public String text() {
    return detail == null ? code.title() : detail;
  }

  public ProblemDetail body() {
    ProblemDetail body = ProblemDetail.forStatus(code.status());
    body.setType(code.type());
    body.setTitle(code.title());
    body.setDetail(detail);
    body.setProperty("code", code.name());
    setIfPresent(body, "field", field);
    setIfPresent(body, "orderStatus", orderStatus);
    setIfPresent(body, "saleState", saleState);
    return body;
  }

  /** The same body as text; the gateway validated or generated the id, or there is none. */
  public String json(@Nullable String correlationId) {
    ProblemDetail body = body();
    setIfPresent(body, "correlationId", correlationId);
    return JSON.writeValueAsString(body);
  }

  /** Further headers of the response. */
  public Map<String, String> headers() {
    return switch (code.status()) {
      case 401 -> Map.of(HttpHeaders.WWW_AUTHENTICATE, "Bearer");
      case 429, 503 -> Map.of(HttpHeaders.RETRY_AFTER, "1");
      default -> Map.of();
    };
  }

  private static void setIfPresent(ProblemDetail body, String name, @Nullable String value) {
    if (value != null) {
      body.setProperty(name, value);
    }
  }
}
