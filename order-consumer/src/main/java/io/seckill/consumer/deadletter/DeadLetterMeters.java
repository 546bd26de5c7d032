package io.seckill.consumer.deadletter;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumMap;
import java.util.Map;
import org.springframework.stereotype.Component;

/** Counts dead letters by reason; every reason has a counter from the start. Thread-safe. */
@Component
class DeadLetterMeters {

  private final Map<DeadLetterReason, Counter> deadLetters = new EnumMap<>(DeadLetterReason.class);

  DeadLetterMeters(MeterRegistry meters) {
    for (DeadLetterReason reason : DeadLetterReason.values()) {
      deadLetters.put(
          reason,
          Counter.builder("seckill.consumer.dead.letters")
              .description("Messages given up on, by consumers or by the broker itself")
              .tag("reason", reason.name())
              .register(meters));
    }
  }

  void count(DeadLetterReason reason) {
    Counter counter = deadLetters.get(reason);
    if (counter != null) {
      counter.increment();
    }
  }
}
