package io.seckill.common.sale;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Arrays;
import java.util.Locale;

/**
 * Whether MySQL decides while Redis cannot ({@code seckill.fallback}); the same in all gateways and
 * order-consumers.
 */
public enum FallbackMode {
  /** Purchases are answered 503 until Redis is back. */
  OFF,
  /** Operators begin and end it. */
  MANUAL,
  /** It begins and ends by itself, or by operators. */
  AUTOMATIC;

  public boolean isOn() {
    return this != OFF;
  }

  /** As the property, the internal port and the database write it. */
  @JsonValue
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Throws IllegalArgumentException when no mode is written like that. */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public static FallbackMode parse(String text) {
    return Arrays.stream(values())
        .filter(mode -> mode.text().equals(text))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("must be one of off, manual, automatic"));
  }
}
