package io.seckill.consumer.payment;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CallbackSignatureTest {

  private static final String SECRET = "secret-of-the-provider-0123456789abcdef";
  private static final long NOW = 1_800_000_000;
  private static final String BODY = "{\"eventId\":\"evt-1\"}";

  private final CallbackSignature signatures = of(SECRET);

  private static CallbackSignature of(@Nullable String secret) {
    return new CallbackSignature(
        new PaymentProperties(Duration.ofMinutes(30), "installed", secret, null),
        Clock.fixed(Instant.ofEpochSecond(NOW), ZoneOffset.UTC));
  }

  /** As {@code openssl dgst -sha256 -hmac} makes it of {@code 1800000000.<body>}. */
  @Test
  void isTheHmacOfTimestampAndBody() {
    String signature = "4c1ee22d0964ec506b7ef6f6933d7d04c130b29efea5beae43e7d9df1205f310";

    assertThat(isValid("" + NOW, signature, BODY)).isTrue();
    assertThat(isValid("" + NOW, signature, BODY + " ")).as("another body").isFalse();
    assertThat(isValid("" + NOW, signature, "")).as("no body").isFalse();
    assertThat(isValid("" + (NOW + 1), signature, BODY)).as("another timestamp").isFalse();
    assertThat(isValid("" + NOW, signature.toUpperCase(Locale.ROOT), BODY)).isFalse();
    assertThat(isValid("" + NOW, signature.substring(2), BODY)).isFalse();
    assertThat(isValid("" + NOW, null, BODY)).isFalse();
    assertThat(isValid(null, signature, BODY)).isFalse();
    assertThat(of(SECRET + "0").isValid("" + NOW, signature, bytes(BODY))).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"-301, false", "-300, true", "0, true", "300, true", "301, false"})
  void isValidFiveMinutesEarlierAndLater(long seconds, boolean valid) {
    SignedCallback callback = SignedCallback.at(Long.toString(NOW + seconds), SECRET, BODY);

    assertThat(isValid(callback.timestamp(), callback.signature(), BODY)).isEqualTo(valid);
  }

  @Test
  void withoutASecretNothingIsExpected() {
    for (String none : new String[] {null, ""}) {
      assertThat(of(none).isExpected()).isFalse();
    }
    assertThat(signatures.isExpected()).isTrue();
  }

  private boolean isValid(@Nullable String timestamp, @Nullable String signature, String body) {
    return signatures.isValid(timestamp, signature, bytes(body));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
