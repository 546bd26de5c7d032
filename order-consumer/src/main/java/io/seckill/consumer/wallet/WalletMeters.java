package io.seckill.consumer.wallet;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.seckill.support.contract.WalletOutcome;
import io.seckill.support.contract.WalletOutcome.WalletCode;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** Counts the operations on wallets. Thread-safe. */
final class WalletMeters {

  private final Map<WalletCode, Counter> outcomes = new EnumMap<>(WalletCode.class);
  private final Counter conflicts;
  private final Timer time;

  WalletMeters(MeterRegistry meters) {
    for (WalletCode code : WalletCode.values()) {
      outcomes.put(
          code,
          Counter.builder("seckill.consumer.wallet.operations")
              .tag("outcome", code.name())
              .description("Operations on wallets, by what became of them")
              .register(meters));
    }
    this.conflicts =
        Counter.builder("seckill.consumer.wallet.conflicts")
            .description("Transactions on wallets undone because another one came first")
            .register(meters);
    this.time =
        Timer.builder("seckill.consumer.wallet.time")
            .description("From the arrival of operations to their outcomes")
            .publishPercentileHistogram()
            .register(meters);
  }

  /** Operations of one call that arrived at {@code startNanos}. */
  void executed(List<WalletOutcome> decided, long startNanos) {
    time.record(System.nanoTime() - startNanos, TimeUnit.NANOSECONDS);
    decided.forEach(outcome -> count(outcome.code()));
  }

  void count(WalletCode code) {
    Objects.requireNonNull(outcomes.get(code)).increment();
  }

  void conflict() {
    conflicts.increment();
  }
}
