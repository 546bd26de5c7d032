package io.seckill.gateway.security;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import java.time.Instant;
import java.util.Date;
import org.jspecify.annotations.Nullable;

/**
 * Signs tokens that this gateway itself accepts, with the secret it verifies them with (HS256).
 * With a key set there is no secret to sign with. Thread-safe.
 */
final class TokenSigner {

  private static final JWSHeader HEADER =
      new JWSHeader.Builder(JWSAlgorithm.HS256).type(JOSEObjectType.JWT).build();

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
    JWTClaimsSet claims =
        new JWTClaimsSet.Builder()
            .subject(subject)
            .expirationTime(Date.from(expiresAt))
            .claim("scope", scope)
            .issuer(settings.requiredIssuer())
            .audience(settings.requiredAudience())
            .build();
    SignedJWT token = new SignedJWT(HEADER, claims);
    try {
      token.sign(new MACSigner(settings.secretBytes()));
    } catch (JOSEException e) {
      throw new IllegalStateException("every Java platform has HMAC-SHA-256", e);
    }
    return token.serialize();
  }
}
