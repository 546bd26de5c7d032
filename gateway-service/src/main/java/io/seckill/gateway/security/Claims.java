package io.seckill.gateway.security;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;

/**
 * The claims of a token that the gateway uses (RFC 7519), read only after its signature was
 * checked.
 *
 * @param subject {@code sub}, not empty
 * @param scopes words of the claim "scope" (RFC 8693), one string; a list of strings is accepted,
 *     too
 * @param issuer {@code iss}, or null
 * @param audience {@code aud}, may be empty
 * @param expiresAtMs {@code exp} in Unix ms
 * @param notBeforeMs {@code nbf} in Unix ms, 0 when absent
 */
record Claims(
    String subject,
    Set<String> scopes,
    @Nullable String issuer,
    List<String> audience,
    long expiresAtMs,
    long notBeforeMs) {

  /** Returns null when the text is not a claims set, or lacks a subject or an expiry. */
  static @Nullable Claims parse(String base64Url) {
    try (JsonParser parser =
        TokenJson.FACTORY.createParser(
            ObjectReadContext.empty(), Base64.getUrlDecoder().decode(base64Url))) {
      return new Reader(parser).read();
    } catch (JacksonException | IllegalArgumentException | ArithmeticException e) {
      return null;
    }
  }

  boolean isValidAt(long nowMs, long skewMs) {
    return nowMs < expiresAtMs + skewMs && nowMs >= notBeforeMs - skewMs;
  }

  /** Collects the members of a claims set. */
  private static final class Reader {
    private static final int MAX_NUMBER_CHARS = 20;
    private static final BigDecimal MAX_SECONDS = BigDecimal.valueOf(1L << 40);

    private final JsonParser parser;
    private @Nullable String subject;
    private Set<String> scopes = Set.of();
    private @Nullable String issuer;
    private List<String> audience = List.of();
    private long expiresAtMs = -1;
    private long notBeforeMs;

    Reader(JsonParser parser) {
      this.parser = parser;
    }

    @Nullable Claims read() {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return null;
      }
      while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
        String name = parser.currentName();
        parser.nextToken();
        readMember(name);
      }
      if (parser.nextToken() != null || subject == null || subject.isEmpty() || expiresAtMs < 0) {
        return null;
      }
      return new Claims(subject, scopes, issuer, audience, expiresAtMs, notBeforeMs);
    }

    private void readMember(String name) {
      switch (name) {
        case "sub" -> subject = text();
        case "iss" -> issuer = text();
        case "aud" -> audience = texts();
        case "scope" -> scopes = words(texts());
        case "exp" -> expiresAtMs = instantMs();
        case "nbf" -> notBeforeMs = instantMs();
        default -> parser.skipChildren();
      }
    }

    private String text() {
      if (parser.currentToken() != JsonToken.VALUE_STRING) {
        throw new IllegalArgumentException("not a text");
      }
      return parser.getString();
    }

    private List<String> texts() {
      if (parser.currentToken() != JsonToken.START_ARRAY) {
        return List.of(text());
      }
      List<String> texts = new ArrayList<>();
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        texts.add(text());
      }
      return texts;
    }

    private static Set<String> words(List<String> texts) {
      Set<String> words = new HashSet<>();
      texts.forEach(text -> words.addAll(List.of(text.split(" ", -1))));
      words.remove("");
      return Set.copyOf(words);
    }

    /** NumericDate: seconds, possibly with a fraction; the length bound keeps 1e999999 out. */
    private long instantMs() {
      if (!parser.currentToken().isNumeric() || parser.getStringLength() > MAX_NUMBER_CHARS) {
        throw new IllegalArgumentException("not a date");
      }
      BigDecimal seconds = parser.getDecimalValue();
      if (seconds.signum() < 0 || seconds.compareTo(MAX_SECONDS) > 0) {
        throw new IllegalArgumentException("not a date of this age");
      }
      return seconds.movePointRight(3).longValue();
    }
  }
}
