package io.seckill.gateway.web;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A complete HTTP answer. Header values are sent unchanged: callers must not pass unchecked input.
 *
 * @param status HTTP status
 * @param contentType of the body; null for an answer without one
 * @param body UTF-8
 * @param headers further headers
 */
public record HttpAnswer(
    int status, @Nullable String contentType, String body, List<Header> headers) {

  public static final String JSON = "application/json";
  public static final String PROBLEM_JSON = "application/problem+json";

  /** One header. */
  public record Header(String name, String value) {}

  /** An answer in JSON. */
  public static HttpAnswer json(int status, String body, Header... headers) {
    return new HttpAnswer(status, JSON, body, List.of(headers));
  }

  /** A refusal in the format of RFC 9457. */
  public static HttpAnswer problem(ProblemCode code, String correlationId) {
    return problem(code, null, correlationId);
  }

  /**
   * A refusal with a detail that says what the caller may do about it.
   *
   * @param detail our own text, never input from outside; null for none
   * @param correlationId as checked or made by {@link CorrelationId}
   */
  public static HttpAnswer problem(
      ProblemCode code, @Nullable String detail, String correlationId) {
    StringBuilder json = new StringBuilder(192);
    json.append("{\"type\":\"urn:seckill:problem:").append(code);
    json.append("\",\"title\":\"").append(code.title());
    json.append("\",\"status\":").append(code.status());
    json.append(",\"code\":\"").append(code);
    if (detail != null) {
      json.append("\",\"detail\":\"").append(detail);
    }
    json.append("\",\"correlationId\":\"").append(correlationId).append("\"}");
    return new HttpAnswer(code.status(), PROBLEM_JSON, json.toString(), headers(code));
  }

  /** The same answer with one more header. */
  public HttpAnswer with(Header header) {
    List<Header> all = new ArrayList<>(headers);
    all.add(header);
    return new HttpAnswer(status, contentType, body, all);
  }

  private static List<Header> headers(ProblemCode code) {
    if (code.retryAfterSeconds() > 0) {
      return List.of(new Header("Retry-After", Integer.toString(code.retryAfterSeconds())));
    }
    return code == ProblemCode.UNAUTHORIZED
        ? List.of(new Header("WWW-Authenticate", "Bearer"))
        : List.of();
  }

  byte[] bodyBytes() {
    return body.getBytes(StandardCharsets.UTF_8);
  }
}
