package io.seckill.consumer.payment;

import io.seckill.consumer.testing.InternalApi;
import io.seckill.consumer.testing.InternalApi.Answer;
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
    return at(Long.toString(Instant.now().getEpochSecond()), secret, body);
  }

  static SignedCallback at(String timestamp, String secret, String body) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
      byte[] hash = mac.doFinal((timestamp + "." + body).getBytes(StandardCharsets.UTF_8));
      return new SignedCallback(timestamp, HexFormat.of().formatHex(hash), body);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  Answer postTo(InternalApi api) {
    return api.with("Authorization", "")
        .with("X-Payment-Timestamp", timestamp)
        .with("X-Payment-Signature", signature)
        .post("/internal/v1/payments/callback", body);
  }
}
