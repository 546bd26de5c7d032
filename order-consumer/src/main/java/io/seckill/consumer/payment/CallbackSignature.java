package io.seckill.consumer.payment;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Duration;
import java.util.HexFormat;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Checks the signatures of callbacks: HMAC-SHA256, in hex, over the timestamp's digits, a dot and
 * the body. The timestamp limits how long a recorded callback can be replayed; within that time a
 * report that is repeated has no second effect. Without a secret no callback is expected.
 */
@Component
final class CallbackSignature {

  private static final String ALGORITHM = "HmacSHA256";
  private static final Pattern SECONDS = Pattern.compile("[0-9]{1,12}");
  private static final Pattern HEX = Pattern.compile("[0-9a-f]{64}");

  /** Greatest difference between a callback's time and ours; servers' clocks differ by less. */
  private static final Duration TOLERANCE = Duration.ofMinutes(5);

  private final @Nullable SecretKeySpec key;
  private final Clock clock;

  CallbackSignature(PaymentProperties settings, Clock clock) {
    String secret = settings.callbackSecret();
    this.key =
        secret == null
            ? null
            : new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), ALGORITHM);
    this.clock = clock;
  }

  boolean isExpected() {
    return key != null;
  }

  /** Compares in constant time; {@code timestamp} is in Unix seconds. */
  boolean isValid(@Nullable String timestamp, @Nullable String signature, byte[] body) {
    if (timestamp == null
        || signature == null
        || !SECONDS.matcher(timestamp).matches()
        || !HEX.matcher(signature).matches()) {
      return false;
    }
    long apart = Math.abs(clock.instant().getEpochSecond() - Long.parseLong(timestamp));
    return apart <= TOLERANCE.toSeconds()
        && MessageDigest.isEqual(mac(timestamp, body), HexFormat.of().parseHex(signature));
  }

  private byte[] mac(String timestamp, byte[] body) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      mac.update((timestamp + ".").getBytes(StandardCharsets.US_ASCII));
      return mac.doFinal(body);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has " + ALGORITHM, e);
    }
  }
}
