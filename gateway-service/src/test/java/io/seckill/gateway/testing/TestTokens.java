package io.seckill.gateway.testing;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Makes HS256 tokens for tests: valid ones, and any JSON that a test wants signed. */
public final class TestTokens {

  public static final String SECRET = "0123456789abcdef0123456789abcdef";
  private static final String HEADER = "{\"alg\":\"HS256\",\"typ\":\"JWT\"}";
  private static final long YEAR_2100_S = 4_102_444_800L;

  private TestTokens() {}

  /** A shopper's token that expires in the year 2100. */
  public static String shopper(long userId) {
    return signed("{\"sub\":\"" + userId + "\",\"exp\":" + YEAR_2100_S + "}");
  }

  /** An operator's token that expires in the year 2100. */
  public static String operator(String name) {
    return signed(
        "{\"sub\":\"" + name + "\",\"scope\":\"seckill.admin\",\"exp\":" + YEAR_2100_S + "}");
  }

  public static String signed(String claims) {
    return signed(HEADER, claims, SECRET);
  }

  public static String signed(String header, String claims, String secret) {
    String input =
        base64(header.getBytes(StandardCharsets.UTF_8))
            + "."
            + base64(claims.getBytes(StandardCharsets.UTF_8));
    return input + "." + base64(hmac(input, secret));
  }

  static String base64(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  private static byte[] hmac(String input, String secret) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
      return mac.doFinal(input.getBytes(StandardCharsets.UTF_8));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }
}
