package io.seckill.gateway.web;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.support.web.ProblemCode;
import java.util.EnumMap;
import java.util.Map;
import org.springframework.stereotype.Component;

/**
 * Counts the requests of both ports that are refused for their token, their rate or their form, or
 * because no token can be checked, before anything is decided. Thread-safe.
 */
@Component
public final class RefusedRequests {

  private final Map<ProblemCode, Counter> counters = new EnumMap<>(ProblemCode.class);

  public RefusedRequests(MeterRegistry meters) {
    for (ProblemCode code : ProblemCode.values()) {
      if (counts(code)) {
        counters.put(
            code,
            Counter.builder("seckill.requests.refused")
                .description("Requests refused for their token, rate or form")
                .tag("code", code.name())
                .register(meters));
      }
    }
  }

  private static boolean counts(ProblemCode code) {
    return switch (code.status()) {
      case 400, 401, 403, 405, 406, 413, 414, 415, 417, 429, 431, 501, 505 -> true;
      default -> code == ProblemCode.NOT_FOUND || code == ProblemCode.UNAVAILABLE;
    };
  }

  /** Counts a request that is answered with this code; does nothing for the code of a decision. */
  public void count(ProblemCode code) {
    Counter counter = counters.get(code);
    if (counter != null) {
      counter.increment();
    }
  }
}
