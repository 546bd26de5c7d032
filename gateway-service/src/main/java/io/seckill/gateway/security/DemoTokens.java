package io.seckill.gateway.security;

import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Tokens for the sign-in pages of demo mode; there are none when it is off. Thread-safe. */
public final class DemoTokens {

  private static final Logger log = LoggerFactory.getLogger(DemoTokens.class);
  private static final Duration LIFETIME = Duration.ofHours(12);
  private static final String OPERATOR = "demo-operator";
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();

  private final SecurityProperties settings;
  private final boolean on;
  private final Clock clock;

  /**
   * @param production whether this gateway runs for real customers
   * @throws IllegalStateException when demo mode is on where tokens must not be free for the asking
   */
  DemoTokens(SecurityProperties settings, DemoProperties demo, boolean production, Clock clock) {
    this.settings = settings;
    this.on = demo.enabled();
    this.clock = clock;
    if (on && (production || !settings.jwkSetUri().isEmpty())) {
      throw new IllegalStateException(
          "seckill.demo.enabled hands a token to anybody who asks; it is refused "
              + (production ? "under a production profile" : "together with a key set")
              + ": switch it off");
    }
    if (on) {
      log.warn(
          "DEMO MODE: anybody who reaches this gateway gets shopper and operator tokens."
              + " Never with real customers; switch off seckill.demo.enabled");
    }
  }

  /** A token, and when it ends. */
  public record DemoToken(String token, Instant expiresAt) {}

  /** Whether demo mode is on. */
  public boolean isOn() {
    return on;
  }

  /**
   * @return null when demo mode is off
   */
  public @Nullable DemoToken shopper(long userId) {
    return on ? token(Long.toString(userId), null) : null;
  }

  /**
   * @return null when demo mode is off
   */
  public @Nullable DemoToken operator() {
    return on ? token(OPERATOR, Identity.ADMIN_SCOPE) : null;
  }

  private DemoToken token(String subject, @Nullable String scope) {
    Instant expiresAt = clock.instant().plus(LIFETIME).truncatedTo(ChronoUnit.SECONDS);
    ObjectNode claims = JSON.createObjectNode();
    claims.put("sub", subject);
    claims.put("exp", expiresAt.getEpochSecond());
    putIfPresent(claims, "scope", scope);
    putIfPresent(claims, "iss", settings.requiredIssuer());
    putIfPresent(claims, "aud", settings.requiredAudience());
    return new DemoToken(Hs256Signature.sign(claims.toString(), settings.secretBytes()), expiresAt);
  }

  private static void putIfPresent(ObjectNode claims, String name, @Nullable String value) {
    if (value != null) {
      claims.put(name, value);
    }
  }

  /** The compact form of RFC 7515. */
  private static final class Hs256Signature {

    private static final String HEADER = "{\"alg\":\"HS256\",\"typ\":\"JWT\"}";

    static String sign(String claims, byte[] secret) {
      String input = base64(HEADER) + "." + base64(claims);
      byte[] signature =
          Hs256SignatureCheck.mac(secret).doFinal(input.getBytes(StandardCharsets.US_ASCII));
      return input + "." + BASE64.encodeToString(signature);
    }

    private static String base64(String text) {
      return BASE64.encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }
  }
}
