package io.seckill.bench.baseline;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import tools.jackson.databind.json.JsonMapper;

/** Checks an HS256 token with as little work as possible, so as not to slow the baseline. */
final class BaselineSignatureCheck {

  private static final String SCHEME = "Bearer ";
  private static final JsonMapper JSON = JsonMapper.shared();

  private final SecretKeySpec secret;

  BaselineSignatureCheck(String secret) {
    this.secret = new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256");
  }

  /**
   * @return the user id in the token's subject
   * @throws SecurityException when the signature is not ours
   */
  long user(String authorization) {
    String token = authorization.substring(SCHEME.length());
    int end = token.lastIndexOf('.');
    byte[] signature = Base64.getUrlDecoder().decode(token.substring(end + 1));
    if (!MessageDigest.isEqual(signature, hmac(token.substring(0, end)))) {
      throw new SecurityException("not our signature");
    }
    String claims = token.substring(token.indexOf('.') + 1, end);
    return JSON.readTree(Base64.getUrlDecoder().decode(claims)).get("sub").asLong();
  }

  private byte[] hmac(String text) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(secret);
      return mac.doFinal(text.getBytes(StandardCharsets.US_ASCII));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }
}
