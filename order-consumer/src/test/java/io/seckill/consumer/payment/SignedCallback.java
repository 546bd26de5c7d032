package io.seckill.consumer.payment;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * A callback as a provider signs it by docs/payment.md.
 *
 * @param timestamp Unix seconds
 */
record SignedCallback(String timestamp, String signature, String body) {

  static SignedCallback now(String secret, String body) {
    String timestamp = Long.toString(Instant.now().getEpochSecond());
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
      byte[] hash = mac.doFinal((timestamp + "." + body).getBytes(StandardCharsets.UTF_8));
      return new SignedCallback(timestamp, HexFormat.of().formatHex(hash), body);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }
}
