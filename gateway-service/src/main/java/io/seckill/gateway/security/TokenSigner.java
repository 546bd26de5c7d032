package io.seckill.gateway.security;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import java.time.Instant;
import java.util.Date;
import org.jspecify.annotations.Nullable;

/**
 * Signs tokens that this gateway itself accepts: with the secret it verifies them with (HS256), or
 * with the key of its warm-up. Thread-safe.
 */
final class TokenSigner {

  private static final JWSHeader WITH_SECRET =
      new JWSHeader.Builder(JWSAlgorithm.HS256).type(JOSEObjectType.JWT).build();

  private final SecurityProperties settings;
  private final JWSHeader header;
  private final @Nullable RSAKey key;

  private TokenSigner(SecurityProperties settings, JWSHeader header, @Nullable RSAKey key) {
    this.settings = settings;
    this.header = header;
    this.key = key;
  }

  /** With the secret, which must be set when a token is signed. */
  static TokenSigner withSecret(SecurityProperties settings) {
    return new TokenSigner(settings, WITH_SECRET, null);
  }

  static TokenSigner withKey(SecurityProperties settings, RSAKey key) {
    JWSHeader header =
        new JWSHeader.Builder(WarmUpKey.ALGORITHM)
            .type(JOSEObjectType.JWT)
            .keyID(key.getKeyID())
            .build();
    return new TokenSigner(settings, header, key);
  }

  /**
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
    SignedJWT token = new SignedJWT(header, claims);
    try {
      token.sign(key == null ? new MACSigner(settings.secretBytes()) : new RSASSASigner(key));
    } catch (JOSEException e) {
      throw new IllegalStateException("every Java platform has HMAC-SHA-256 and RSA", e);
    }
    return token.serialize();
  }
}
