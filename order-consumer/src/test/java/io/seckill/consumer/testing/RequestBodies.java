package io.seckill.consumer.testing;

import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.StrictJson;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/** Reads bodies of requests as the internal port does, without a server. */
public final class RequestBodies {

  private RequestBodies() {}

  /**
   * @param json with ' for "
   */
  public static <T> T read(String json, Class<T> type) {
    return StrictJson.read(json.replace('\'', '"').getBytes(StandardCharsets.UTF_8), type);
  }

  /** Returns the member that is named when the body is refused. */
  public static String refused(String json, Class<?> type) {
    return refused(json, type, body -> {});
  }

  /** As {@link #refused(String, Class)}, by the reading or by a check of what was read. */
  public static <T> String refused(String json, Class<T> type, Consumer<T> check) {
    Problem problem =
        catchThrowableOfType(ProblemException.class, () -> check.accept(read(json, type)))
            .problem();
    return String.valueOf(problem.field());
  }
}
