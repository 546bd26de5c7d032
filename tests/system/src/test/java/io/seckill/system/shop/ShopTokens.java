package io.seckill.system.shop;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** JWTs as {@code scripts/token} makes them: HS256, valid for an hour unless said otherwise. */
public final class ShopTokens {

  private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();

  private final String secret;
  private final Duration validity;

  /**
   * @param secret the gateway's HS256 secret, at least 32 bytes
   */
  public ShopTokens(String secret) {
    this(secret, Duration.ofHours(1));
  }

  /**
   * @param validity from now to {@code exp}
   */
  public ShopTokens(String secret, Duration validity) {
    this.secret = secret;
    this.validity = validity;
  }

  public String shopper(long userId) {
    return sign("\"sub\":\"" + userId + "\"");
  }

  public String operator() {
    return sign("\"sub\":\"operator\",\"scope\":\"seckill.admin\"");
  }

  private String sign(String claims) {
    long now = Instant.now().getEpochSecond();
    String body =
        encode("{\"alg\":\"HS256\",\"typ\":\"JWT\"}")
            + "."
            + encode(
                "{"
                    + claims
                    + ",\"iat\":"
                    + now
                    + ",\"exp\":"
                    + (now + validity.toSeconds())
                    + "}");
    return body + "." + BASE64.encodeToString(hmac(body));
  }

  private byte[] hmac(String text) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
      return mac.doFinal(text.getBytes(StandardCharsets.US_ASCII));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String encode(String json) {
    return BASE64.encodeToString(json.getBytes(StandardCharsets.UTF_8));
  }
}
