package io.seckill.gateway.web;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.exc.InputCoercionException;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.cfg.CoercionAction;
import tools.jackson.databind.cfg.CoercionInputShape;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.type.LogicalType;

/**
 * Reads request bodies strictly: no unknown, repeated or trailing members, no number from a text or
 * a fraction, no text from a number (FACTS "Request bodies" lists what defaults let through).
 */
public final class JsonBody {

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_]{1,64}");

  private static final JsonMapper STRICT =
      JsonMapper.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(
              DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES,
              DeserializationFeature.FAIL_ON_TRAILING_TOKENS,
              DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
          .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
          .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
          .withCoercionConfig(
              LogicalType.Textual,
              config ->
                  config
                      .setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
                      .setCoercion(CoercionInputShape.Float, CoercionAction.Fail)
                      .setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail))
          .build();

  private JsonBody() {}

  /**
   * The body as a record whose components are nullable boxes; presence is the caller's to check.
   *
   * @throws ProblemException 400, naming the member when the fault has one
   */
  public static <T> T read(byte[] body, Class<T> type) {
    try {
      T value = STRICT.readValue(body, type);
      if (value == null) {
        throw ProblemException.invalid("body", "The body must be a JSON object.");
      }
      return value;
    } catch (DatabindException e) {
      throw unfit(
          e.getPath().isEmpty() ? null : e.getPath().get(e.getPath().size() - 1).getPropertyName());
    } catch (InputCoercionException e) { // a number that no long holds
      throw unfit(e.processor() == null ? null : e.processor().currentName());
    } catch (JacksonException e) {
      throw ProblemException.invalid("body", "The body is not valid JSON.");
    }
  }

  /** Only a harmless name is repeated to the caller. */
  private static ProblemException unfit(@Nullable String member) {
    String shown = member != null && NAME.matcher(member).matches() ? member : "body";
    return ProblemException.invalid(shown, "Not as described: " + shown + '.');
  }
}
