package io.seckill.consumer.internal;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;

/** Converts a {@link Problem} to its HTTP response. */
final class ProblemResponses {

  private static final Map<Integer, String> CODES =
      Map.of(
          400,
          Problem.INVALID_REQUEST,
          401,
          Problem.UNAUTHORIZED,
          404,
          Problem.NOT_FOUND,
          405,
          "METHOD_NOT_ALLOWED",
          406,
          "NOT_ACCEPTABLE",
          413,
          "PAYLOAD_TOO_LARGE",
          415,
          "UNSUPPORTED_MEDIA_TYPE",
          503,
          Problem.UNAVAILABLE);

  private ProblemResponses() {}

  static ProblemDetail detail(Problem problem) {
    ProblemDetail detail =
        ProblemDetail.forStatusAndDetail(
            HttpStatusCode.valueOf(problem.status()), problem.detail());
    detail.setTitle(title(problem.status()));
    detail.setProperty("code", problem.code());
    setIfPresent(detail, "field", problem.field());
    setIfPresent(detail, "orderStatus", problem.orderStatus());
    setIfPresent(detail, "saleState", problem.saleState());
    return detail;
  }

  static ResponseEntity<Object> response(Problem problem, HttpHeaders headers) {
    HttpHeaders all = new HttpHeaders();
    all.putAll(headers);
    all.setContentType(MediaType.APPLICATION_PROBLEM_JSON);
    if (problem.retryAfter() != null) {
      all.set(HttpHeaders.RETRY_AFTER, Long.toString(problem.retryAfter().toSeconds()));
    }
    return ResponseEntity.status(problem.status()).headers(all).body(detail(problem));
  }

  /** Returns the code for a refusal made by the web framework. */
  static String codeOf(int status) {
    return CODES.getOrDefault(
        status, status < 500 ? Problem.INVALID_REQUEST : Problem.INTERNAL_ERROR);
  }

  private static @Nullable String title(int status) {
    HttpStatus known = HttpStatus.resolve(status);
    return known == null ? null : known.getReasonPhrase();
  }

  private static void setIfPresent(ProblemDetail detail, String name, @Nullable String value) {
    if (value != null) {
      detail.setProperty(name, value);
    }
  }
}
