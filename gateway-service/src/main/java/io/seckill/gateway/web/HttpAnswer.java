package io.seckill.gateway.web;

import io.seckill.support.web.Problem;
import java.util.ArrayList;
import java.util.List;
import org.springframework.http.MediaType;

/**
 * A complete HTTP answer. Header values are sent unchanged: callers must not pass unchecked input.
 *
 * @param body UTF-8
 */
public record HttpAnswer(int status, String contentType, String body, List<Header> headers) {

  public record Header(String name, String value) {}

  public static HttpAnswer json(int status, String body, Header... headers) {
    return new HttpAnswer(status, MediaType.APPLICATION_JSON_VALUE, body, List.of(headers));
  }

  /** A refusal in the format of RFC 9457, with an id of {@link CorrelationId}. */
  public static HttpAnswer problem(Problem problem, String correlationId) {
    return new HttpAnswer(
        problem.status(),
        MediaType.APPLICATION_PROBLEM_JSON_VALUE,
        problem.json(correlationId),
        problem.headers().entrySet().stream()
            .map(header -> new Header(header.getKey(), header.getValue()))
            .toList());
  }

  /** The same answer with this header, instead of one of the same name. */
  public HttpAnswer with(Header header) {
    List<Header> all = new ArrayList<>(headers);
    all.removeIf(other -> other.name().equalsIgnoreCase(header.name()));
    all.add(header);
    return new HttpAnswer(status, contentType, body, all);
  }
}
