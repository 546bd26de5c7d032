package io.seckill.gateway.security;

import java.util.Base64;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;

/**
 * The header fields that decide how a token is checked. Keys and key addresses in the header
 * ({@code jwk}, {@code jku}, {@code x5u}) are always ignored.
 *
 * @param algorithm as the token claims; the check compares it with its own
 * @param keyId which key of a set, or null
 */
record JoseHeader(String algorithm, @Nullable String keyId) {

  /**
   * Returns null when the text is not a header, has no algorithm, or requires extensions ({@code
   * crit}).
   */
  static @Nullable JoseHeader parse(String base64Url) {
    try (JsonParser parser =
        TokenJson.FACTORY.createParser(
            ObjectReadContext.empty(), Base64.getUrlDecoder().decode(base64Url))) {
      return read(parser);
    } catch (JacksonException | IllegalArgumentException e) {
      return null;
    }
  }

  private static @Nullable JoseHeader read(JsonParser parser) {
    String algorithm = null;
    String keyId = null;
    if (parser.nextToken() != JsonToken.START_OBJECT) {
      return null;
    }
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      String name = parser.currentName();
      JsonToken value = parser.nextToken();
      if (name.equals("crit")) {
        return null;
      } else if (name.equals("alg") && value == JsonToken.VALUE_STRING) {
        algorithm = parser.getString();
      } else if (name.equals("kid") && value == JsonToken.VALUE_STRING) {
        keyId = parser.getString();
      } else {
        parser.skipChildren();
      }
    }
    return algorithm == null || parser.nextToken() != null
        ? null
        : new JoseHeader(algorithm, keyId);
  }
}
