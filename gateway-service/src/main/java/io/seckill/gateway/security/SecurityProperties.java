package io.seckill.gateway.security;

import static io.seckill.common.settings.SettingChecks.check;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How tokens are verified; exactly one of secret and key set is required, there is no default.
 *
 * @param hs256Secret secret of HS256 tokens, at least 32 bytes of UTF-8; empty for none
 * @param jwkSetUri where the issuer publishes its public keys (RS256, PS256 and ES256); empty for
 *     none
 * @param jwkSetRefresh how often the key set is read again, 10 s..24 h
 * @param issuer required {@code iss}; empty to accept any
 * @param audience required member of {@code aud}; empty to accept any
 * @param clockSkew tolerance for {@code exp} and {@code nbf}, 0..5 min
 * @param rememberedTokens most verified tokens cached, 0..10,000,000; about 600 bytes each
 */
@ConfigurationProperties("seckill.security")
record SecurityProperties(
    @DefaultValue("") String hs256Secret,
    @DefaultValue("") String jwkSetUri,
    @DefaultValue("5m") Duration jwkSetRefresh,
    @DefaultValue("") String issuer,
    @DefaultValue("") String audience,
    @DefaultValue("30s") Duration clockSkew,
    @DefaultValue("100000") int rememberedTokens) {

  private static final int MIN_SECRET_BYTES = 32;
  private static final Duration MIN_REFRESH = Duration.ofSeconds(10);
  private static final Duration MAX_REFRESH = Duration.ofHours(24);
  private static final Duration MAX_SKEW = Duration.ofMinutes(5);

  SecurityProperties {
    check(
        hs256Secret.isEmpty() != jwkSetUri.isEmpty(),
        "seckill.security: either hs256-secret or jwk-set-uri must be set");
    check(
        hs256Secret.isEmpty() || secretBytes(hs256Secret).length >= MIN_SECRET_BYTES,
        "seckill.security.hs256-secret must have at least " + MIN_SECRET_BYTES + " bytes");
    check(
        jwkSetUri.isEmpty() || isHttp(jwkSetUri),
        "seckill.security.jwk-set-uri must be an http(s) URL");
    check(
        jwkSetRefresh.compareTo(MIN_REFRESH) >= 0 && jwkSetRefresh.compareTo(MAX_REFRESH) <= 0,
        "seckill.security.jwk-set-refresh must be 10s..24h");
    check(
        !clockSkew.isNegative() && clockSkew.compareTo(MAX_SKEW) <= 0,
        "seckill.security.clock-skew must be 0s..5m");
    check(
        rememberedTokens >= 0 && rememberedTokens <= 10_000_000,
        "seckill.security.remembered-tokens must be 0..10000000");
  }

  byte[] secretBytes() {
    return secretBytes(hs256Secret);
  }

  @Nullable String requiredIssuer() {
    return issuer.isEmpty() ? null : issuer;
  }

  @Nullable String requiredAudience() {
    return audience.isEmpty() ? null : audience;
  }

  /** Omits the secret. */
  @Override
  public String toString() {
    return "SecurityProperties[" + (jwkSetUri.isEmpty() ? "HS256" : jwkSetUri) + "]";
  }

  private static byte[] secretBytes(String secret) {
    return secret.getBytes(StandardCharsets.UTF_8);
  }

  private static boolean isHttp(String text) {
    try {
      URI uri = URI.create(text);
      return uri.getHost() != null
          && ("https".equals(uri.getScheme()) || "http".equals(uri.getScheme()));
    } catch (IllegalArgumentException e) {
      return false;
    }
  }
}
