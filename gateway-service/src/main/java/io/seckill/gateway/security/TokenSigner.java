package io.seckill.gateway.security;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import javax.crypto.Mac;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Signs tokens that this gateway itself accepts, with the secret it verifies them with (HS256,
 * compact form of RFC 7515). With a key set there is no secret to sign with. Thread-safe.
 */
final class TokenSigner {

  private static final JsonMapper JSON = JsonMapper.shared();
  private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();
  private static final String HEADER = "{\"alg\":\"HS256\",\"typ\":\"JWT\"}";

  private final SecurityProperties settings;

  TokenSigner(SecurityProperties settings) {
    this.settings = settings;
  }

  /** Whether there is a secret. */
  boolean canSign() {
    return !settings.hs256Secret().isEmpty();
  }

  /**
   * Signs a token. Allowed only when {@link #canSign()}.
   *
   * @param scope null for none
   * @param expiresAt expiry; fractions of a second are dropped
   */
  String sign(String subject, @Nullable String scope, Instant expiresAt) {
    ObjectNode claims = JSON.createObjectNode();
    claims.put("sub", subject);
    claims.put("exp", expiresAt.getEpochSecond());
    putIfPresent(claims, "scope", scope);
    putIfPresent(claims, "iss", settings.requiredIssuer());
    putIfPresent(claims, "aud", settings.requiredAudience());
    return sign(claims.toString());
  }

  private static void putIfPresent(ObjectNode claims, String name, @Nullable String value) {
    if (value != null) {
      claims.put(name, value);
    }
  }

  private String sign(String claims) {
    String input = base64(HEADER) + "." + base64(claims);
    Mac mac = Hs256SignatureCheck.mac(settings.secretBytes());
    byte[] signature = mac.doFinal(input.getBytes(StandardCharsets.US_ASCII));
    return input + "." + BASE64.encodeToString(signature);
  }

  private static String base64(String text) {
    return BASE64.encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }
}
