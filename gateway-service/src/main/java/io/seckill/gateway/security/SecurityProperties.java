package io.seckill.gateway.security;

import static io.seckill.common.settings.SettingChecks.check;
import static io.seckill.common.settings.SettingChecks.isHttpUrl;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How tokens are verified; exactly one of secret and key set is required, there is no default.
 *
 * @param hs256Secret secret of HS256 tokens, at least 32 bytes of UTF-8; empty for none
 * @param jwkSetUri where the issuer publishes its public keys (RS256, PS256 and ES256); empty for
 *     none
 * @param issuer required {@code iss}; {@code *} to accept any, and with a secret also empty
 * @param audience required member of {@code aud}, likewise: an issuer signs the tokens of all its
 *     applications with the same keys
 */
@ConfigurationProperties("seckill.security")
record SecurityProperties(
    @DefaultValue("") String hs256Secret,
    @DefaultValue("") String jwkSetUri,
    @DefaultValue("") String issuer,
    @DefaultValue("") String audience) {

  private static final int MIN_SECRET_BYTES = 32;
  private static final String ANY = "*";

  SecurityProperties {
    check(
        hs256Secret.isEmpty() != jwkSetUri.isEmpty(),
        "seckill.security: either hs256-secret or jwk-set-uri must be set");
    check(
        hs256Secret.isEmpty() || secretBytes(hs256Secret).length >= MIN_SECRET_BYTES,
        "seckill.security.hs256-secret must have at least " + MIN_SECRET_BYTES + " bytes");
    check(
        jwkSetUri.isEmpty() || isHttpUrl(jwkSetUri),
        "seckill.security.jwk-set-uri must be an http(s) URL");
    check(
        jwkSetUri.isEmpty() || !(issuer.isEmpty() || audience.isEmpty()),
        "seckill.security.issuer and seckill.security.audience must be set with jwk-set-uri;"
            + " * accepts any");
  }

  byte[] secretBytes() {
    return secretBytes(hs256Secret);
  }

  @Nullable String requiredIssuer() {
    return required(issuer);
  }

  @Nullable String requiredAudience() {
    return required(audience);
  }

  /** Omits the secret. */
  @Override
  public String toString() {
    return "SecurityProperties[" + (jwkSetUri.isEmpty() ? "HS256" : jwkSetUri) + "]";
  }

  private static @Nullable String required(String value) {
    return value.isEmpty() || value.equals(ANY) ? null : value;
  }

  private static byte[] secretBytes(String secret) {
    return secret.getBytes(StandardCharsets.UTF_8);
  }
}
