package io.seckill.gateway.backends;

import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.StrictJson;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A successful response of order-consumer, with a status of 200..299. Its body is not read yet: of
 * a list of payments once, into records.
 */
@SuppressWarnings("ArrayRecordComponent") // nobody compares answers
public record ConsumerAnswer(int status, byte[] bytes) {

  private static final byte[] NO_MEMBERS = "{}".getBytes(StandardCharsets.UTF_8);

  private static final Pattern WORD = Pattern.compile("[A-Z][A-Z0-9_]{1,63}");
  private static final Pattern SENTENCE = Pattern.compile("[\\x20-\\x7e]{1,300}");
  private static final Pattern TEXT = Pattern.compile("(?s).+");
  private static final Pattern MEMBER = Pattern.compile("[A-Za-z0-9_-]{1,64}");

  /** Longest detail for operators: it may name every server, or all that is pending. */
  private static final int OPERATORS_CHARS = 2_000;

  private static final JsonMapper JSON =
      StrictJson.MAPPER
          .rebuild()
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .build();

  /**
   * Reads a response.
   *
   * @throws ProblemException a refusal, with order-consumer's code: also 503 BUSY, as nothing was
   *     done; for operators every 503
   * @throws RuntimeException for every other response
   */
  static ConsumerAnswer of(int status, byte[] bytes, Requester requester) {
    ConsumerAnswer answer = new ConsumerAnswer(status, bytes.length == 0 ? NO_MEMBERS : bytes);
    if (status >= 200 && status < 300) {
      return answer;
    }
    JsonNode body = answer.body();
    // 401 and 403 refuse the gateway's own token, not the caller's.
    if (status >= 400 && status < 500 && status != 401 && status != 403) {
      throw new ProblemException(refusal(status, body, requester));
    }
    String code = text(body, "code", WORD);
    if (status == 503
        && code != null
        && (requester == Requester.OPERATOR || code.equals(ProblemCode.BUSY.name()))) {
      throw new ProblemException(refusal(status, body, requester));
    }
    throw new IllegalStateException("answered " + status);
  }

  private static Problem refusal(int status, JsonNode body, Requester requester) {
    return new Problem(
        ProblemCode.of(status, text(body, "code", WORD)),
        requester == Requester.OPERATOR ? printable(body) : text(body, "detail", SENTENCE),
        text(body, "field", MEMBER),
        text(body, "orderStatus", WORD),
        text(body, "saleState", WORD));
  }

  /** The detail for operators, in printable ASCII. */
  private static @Nullable String printable(JsonNode body) {
    String detail = text(body, "detail", TEXT);
    return detail == null
        ? null
        : detail.substring(0, Math.min(detail.length(), OPERATORS_CHARS)).replaceAll("[^ -~]", "?");
  }

  /** Text from another service is passed on to callers only when it matches the pattern. */
  private static @Nullable String text(JsonNode body, String name, Pattern accepted) {
    JsonNode value = body.path(name);
    return value.isString() && accepted.matcher(value.stringValue()).matches()
        ? value.stringValue()
        : null;
  }

  /**
   * The body; an empty object when there was none.
   *
   * @throws JacksonException when it is not JSON
   */
  public JsonNode body() {
    return JSON.readTree(bytes);
  }

  /**
   * This answer, whose body is JSON.
   *
   * @throws JacksonException when it is not
   */
  ConsumerAnswer checked() {
    var unused = body();
    return this;
  }

  /**
   * The body as a record; members that the record does not have are ignored.
   *
   * @throws JacksonException when it is none
   */
  public <T> T as(Class<T> type) {
    return JSON.readValue(bytes, type);
  }
}
