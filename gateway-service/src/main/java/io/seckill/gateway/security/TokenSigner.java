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

  private TokenSigner() {}

  /**
   * @param settings with the secret, unless there is a key
   * @param key null to sign with the secret
   * @param scope null for none
   * @param expiresAt expiry; fractions of a second are dropped
   */
  static String sign(
      SecurityProperties settings,
      @Nullable RSAKey key,
      String subject,
      @Nullable String scope,
      Instant expiresAt) {
    JWSHeader.Builder header =
        key == null
            ? new JWSHeader.Builder(JWSAlgorithm.HS256)
            : new JWSHeader.Builder(WarmUpKey.ALGORITHM).keyID(key.getKeyID());
    JWTClaimsSet claims =
        new JWTClaimsSet.Builder()
            .subject(subject)
            .expirationTime(Date.from(expiresAt))
            .claim("scope", scope)
            .issuer(settings.requiredIssuer())
            .audience(settings.requiredAudience())
            .build();
    SignedJWT token = new SignedJWT(header.type(JOSEObjectType.JWT).build(), claims);
    try {
      token.sign(key == null ? new MACSigner(settings.secretBytes()) : new RSASSASigner(key));
    } catch (JOSEException e) {
      throw new IllegalStateException("every Java platform has HMAC-SHA-256 and RSA", e);
    }
    return token.serialize();
  }
}
