package io.seckill.consumer.fallback;

import io.seckill.common.sale.FallbackMode;
import io.seckill.support.web.ProblemException;
import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The modes as the property and the internal port write them. */
final class Modes {

  private Modes() {}

  static String text(FallbackMode mode) {
    return mode.name().toLowerCase(Locale.ROOT);
  }

  /**
   * @throws ProblemException 400 naming the member
   */
  static FallbackMode parse(@Nullable String text) {
    return Arrays.stream(FallbackMode.values())
        .filter(mode -> text(mode).equals(text))
        .findFirst()
        .orElseThrow(
            () ->
                ProblemException.invalid(
                    "fallback", "fallback must be one of off, manual, automatic."));
  }
}
