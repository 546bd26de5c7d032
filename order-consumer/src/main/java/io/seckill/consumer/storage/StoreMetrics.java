package io.seckill.consumer.storage;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.RejectReason;
import io.seckill.consumer.storage.StoreOutcome.Alias;
import io.seckill.consumer.storage.StoreOutcome.Known;
import io.seckill.consumer.storage.StoreOutcome.Rejected;
import io.seckill.consumer.storage.StoreOutcome.Stored;
import io.seckill.consumer.storage.StoreOutcome.Unfit;
import io.seckill.consumer.storage.StoreOutcome.Unstorable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

final class StoreMetrics {

  private static final Logger log = LoggerFactory.getLogger(StoreMetrics.class);

  private final Counter stored;
  private final Counter duplicates;
  private final Counter aliases;
  private final Counter conflicts;
  private final Map<RejectReason, Counter> rejected = new EnumMap<>(RejectReason.class);
  private final DistributionSummary batchSize;
  private final Timer batchTime;
  private final Counter splits;

  StoreMetrics(MeterRegistry meters) {
    stored = counter(meters, "stored", "Orders stored as CONFIRMED");
    duplicates = counter(meters, "duplicates", "Deliveries of orders that were stored before");
    aliases = counter(meters, "aliases", "Orders of requests that another order answers");
    conflicts =
        counter(meters, "content.conflicts", "Known order ids with other content: look at each");
    splits = counter(meters, "splits", "Batches decided order by order");
    for (RejectReason reason : RejectReason.values()) {
      rejected.put(
          reason,
          Counter.builder("seckill.consumer.rejected")
              .tag("reason", reason.name())
              .description("Orders stored as REJECTED")
              .register(meters));
    }
    batchSize =
        DistributionSummary.builder("seckill.consumer.batch.size")
            .description("Orders of a transaction")
            .serviceLevelObjectives(1, 10, 50, 100, 250, 500, 1000)
            .register(meters);
    batchTime =
        Timer.builder("seckill.consumer.batch.time")
            .description("From the first statement of a batch to its COMMIT")
            .serviceLevelObjectives(
                Duration.ofMillis(2),
                Duration.ofMillis(5),
                Duration.ofMillis(10),
                Duration.ofMillis(25),
                Duration.ofMillis(50),
                Duration.ofMillis(100),
                Duration.ofMillis(500),
                Duration.ofSeconds(2))
            .register(meters);
  }

  private static Counter counter(MeterRegistry meters, String name, String description) {
    return Counter.builder("seckill.consumer." + name).description(description).register(meters);
  }

  void count(StoredBatch batch, long nanos) {
    batchTime.record(nanos, TimeUnit.NANOSECONDS);
    batchSize.record(batch.outcomes().size());
    batch.outcomes().forEach(this::count);
    logRejected(batch);
  }

  private void count(StoreOutcome outcome) {
    if (outcome instanceof Stored) {
      stored.increment();
    } else if (outcome instanceof Rejected refused) {
      Objects.requireNonNull(rejected.get(refused.reason())).increment();
    } else if (outcome instanceof Known || (outcome instanceof Alias alias && !alias.now())) {
      duplicates.increment();
    } else if (outcome instanceof Alias) {
      aliases.increment();
    } else if (outcome instanceof Unstorable bad && bad.unfit() == Unfit.OTHER_CONTENT) {
      conflicts.increment();
    }
  }

  /** Redis has admitted these orders and should not have: one line for each reason names all. */
  private static void logRejected(StoredBatch batch) {
    Map<RejectReason, List<OrderMessage>> rejected = new EnumMap<>(RejectReason.class);
    for (StoreOutcome outcome : batch.outcomes()) {
      if (outcome instanceof Rejected refused) {
        rejected
            .computeIfAbsent(refused.reason(), reason -> new ArrayList<>())
            .add(refused.order());
      }
    }
    rejected.forEach(
        (reason, orders) ->
            log.warn(
                "MySQL has rejected {} orders that Redis had admitted, as {}: {}",
                orders.size(),
                reason,
                orders.stream().map(StoreMetrics::named).toList()));
  }

  private static String named(OrderMessage order) {
    return "order=" + order.orderId() + " sku=" + order.skuId();
  }

  void split() {
    splits.increment();
  }
}
