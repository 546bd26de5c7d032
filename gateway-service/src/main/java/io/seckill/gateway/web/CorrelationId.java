package io.seckill.gateway.web;

import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Id of a request, by which the log lines for a shopper's complaint are found. */
public final class CorrelationId {

  public static final String HEADER = "X-Correlation-Id";

  private static final int MIN_CHARS = 8;
  private static final int MAX_CHARS = 64;

  private CorrelationId() {}

  /** Returns the caller's id if it matches {@code [A-Za-z0-9_-]{8,64}}, else a new one. */
  public static String orNew(@Nullable String given) {
    return given != null && SafeText.isWord(given, MIN_CHARS, MAX_CHARS) ? given : random();
  }

  private static String random() {
    return HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
  }
}
