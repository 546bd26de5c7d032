package io.seckill.support.web;

import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.exc.InputCoercionException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.cfg.CoercionAction;
import tools.jackson.databind.cfg.CoercionInputShape;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.type.LogicalType;

/**
 * Reads JSON strictly: UTF-8 without a byte order mark, no unknown or repeated members, nothing
 * after the value, no integer from a string or a fraction, no string from a number (facts.md
 * "Request bodies" lists what the defaults accept).
 */
public final class StrictJson {

  /** For bytes whose refusal is not a {@link ProblemException}. */
  public static final JsonMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .disable(TokenStreamFactory.Feature.CHARSET_DETECTION) // UTF-8 only
                  .build())
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
          .withCoercionConfig(
              LogicalType.Enum,
              config ->
                  config
                      .setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
                      .setCoercion(CoercionInputShape.EmptyString, CoercionAction.Fail))
          .build();

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_]{1,64}");

  private StrictJson() {}

  /**
   * Reads the body into a record. A component of a primitive type must be present; the record's
   * constructor checks the others, which are null when absent, and throws a {@link
   * ProblemException}.
   *
   * @param body null when there is none
   * @throws ProblemException 400, naming the invalid member when there is one
   */
  public static <T> T read(byte @Nullable [] body, Class<T> type) {
    try {
      JsonNode tree = MAPPER.readTree(body == null ? new byte[0] : body);
      if (!tree.isObject()) {
        throw ProblemException.invalid("body", "The body must be a JSON object.");
      }
      return MAPPER.treeToValue(tree, type); // after all of the body has proved to be JSON
    } catch (DatabindException e) {
      Throwable cause = NestedExceptionUtils.getRootCause(e);
      if (cause instanceof ProblemException refusal) {
        throw refusal;
      }
      // Our constructors and factories say themselves how a value is wrong.
      throw unfit(member(e), cause instanceof IllegalArgumentException ? cause.getMessage() : null);
    } catch (InputCoercionException e) { // a number outside the range of long
      throw unfit(e.processor() == null ? null : e.processor().currentName(), null);
    } catch (JacksonException e) {
      throw ProblemException.invalid("body", "The body is not valid JSON.");
    }
  }

  /** The innermost member; elements of an array have no name. */
  private static @Nullable String member(DatabindException e) {
    return e.getPath().stream()
        .map(JacksonException.Reference::getPropertyName)
        .filter(Objects::nonNull)
        .reduce(null, (outer, inner) -> inner);
  }

  private static ProblemException unfit(@Nullable String member, @Nullable String reason) {
    String shown = member != null && NAME.matcher(member).matches() ? member : "body";
    return ProblemException.invalid(
        shown, "Not as described: " + shown + (reason == null ? "." : ", " + reason + '.'));
  }
}
