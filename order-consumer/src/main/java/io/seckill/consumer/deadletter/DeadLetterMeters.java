package io.seckill.consumer.deadletter;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Arrays;
import org.springframework.stereotype.Component;

/** Counts dead letters by reason; every reason has a counter from the start. Thread-safe. */
@Component
class DeadLetterMeters {

  private final MeterRegistry meters;

  DeadLetterMeters(MeterRegistry meters) {
    this.meters = meters;
    Arrays.stream(DeadLetterReason.values()).forEach(this::counter);
  }

  void count(DeadLetterReason reason, int deadLetters) {
    counter(reason).increment(deadLetters);
  }

  private Counter counter(DeadLetterReason reason) {
    return Counter.builder("seckill.consumer.dead.letters")
        .description("Messages given up on, by consumers or by the broker itself")
        .tag("reason", reason.name())
        .register(meters);
  }
}
