package io.seckill.consumer.orders;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.runtime.RedisCallGuard;
import io.seckill.consumer.runtime.Sql;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;
import redis.clients.jedis.UnifiedJedis;

/**
 * Writes results and progress to Redis, pipelined, one script call per SKU and {@value #CHUNK}
 * orders. Thread-safe. Call it after COMMIT, never inside a transaction.
 *
 * <p>Redis only receives decisions of MySQL, so a failure here does not fail the caller: a lost
 * write is counted, and repaired by a duplicate delivery or by the gateway's lookup of an overdue
 * QUEUED order.
 */
@Component
public class OrderResults {

  private static final Logger log = LoggerFactory.getLogger(OrderResults.class);

  /** Keeps the time for which one call blocks Redis well below a millisecond. */
  private static final int CHUNK = 250;

  private static final int FIXED_ARGUMENTS = 5;
  private static final int ARGUMENTS_PER_ORDER = 5;

  private final UnifiedJedis redis;
  private final RedisCallGuard breaker;
  private final LuaScript script = LuaScript.from(OrderResults.class, "record_results.lua");
  private final Counter failures;

  public OrderResults(UnifiedJedis redis, RedisCallGuard breaker, MeterRegistry meters) {
    this.redis = redis;
    this.breaker = breaker;
    this.failures =
        Counter.builder("seckill.consumer.sync.errors")
            .description(
                "Order results that did not reach Redis; the gateway looks them up in MySQL")
            .register(meters);
  }

  /**
   * Writes results without progress: payment, cancel, expiry, dead letters. Returns false when
   * Redis may not have received all of them.
   */
  public boolean write(Collection<OrderResult> results) {
    return write(results, List.of());
  }

  /**
   * Writes the results of a stored batch and the progress of its SKUs. Returns false when Redis may
   * not have received all of them.
   */
  public boolean write(Collection<OrderResult> results, Collection<SkuProgress> progress) {
    Map<Integer, List<Call>> byPart = new TreeMap<>();
    for (Call call : calls(results, progress)) {
      byPart.computeIfAbsent(breaker.partOf(call.sku()), part -> new ArrayList<>()).add(call);
    }
    boolean written = true;
    for (Map.Entry<Integer, List<Call>> part : byPart.entrySet()) {
      if (!breaker.run(part.getKey(), () -> send(part.getValue()))) {
        failures.increment(part.getValue().stream().mapToInt(Call::orders).sum());
        written = false;
      }
    }
    return written;
  }

  private List<Call> calls(Collection<OrderResult> results, Collection<SkuProgress> progress) {
    Map<Long, List<OrderResult>> bySku = new TreeMap<>();
    Map<Long, SkuProgress> progressOf = new TreeMap<>();
    progress.forEach(
        p -> {
          progressOf.put(p.skuId(), p);
          bySku.put(p.skuId(), new ArrayList<>());
        });
    results.forEach(r -> bySku.computeIfAbsent(r.skuId(), sku -> new ArrayList<>()).add(r));
    List<Call> calls = new ArrayList<>();
    bySku.forEach(
        (sku, orders) -> {
          List<String> head = head(sku, progressOf.get(sku));
          (orders.isEmpty() ? List.of(orders) : Sql.chunks(orders, CHUNK))
              .forEach(chunk -> calls.add(Call.of(sku, head, chunk)));
        });
    return calls;
  }

  private List<String> head(long sku, @Nullable SkuProgress progress) {
    return List.of(
        RedisKeys.prefix(Partition.ofSku(sku)),
        Long.toString(sku),
        progress == null ? "" : Long.toString(progress.readAt()),
        progress == null ? "" : Long.toString(progress.epoch()),
        progress == null ? "" : Long.toString(progress.settled()));
  }

  private void send(List<Call> calls) {
    List<Object> changed =
        script.callEach(
            redis,
            calls.stream().map(Call::keys).toList(),
            calls.stream().map(Call::arguments).toList());
    for (int i = 0; i < calls.size(); i++) {
      if (changed.get(i) instanceof Long n && n < 0) {
        log.debug("sku {} has no sale in Redis to write results to", calls.get(i).sku());
      }
    }
  }

  /** One call of record_results.lua. */
  private record Call(long sku, int orders, List<String> keys, List<String> arguments) {

    static Call of(long sku, List<String> head, List<OrderResult> orders) {
      List<String> arguments =
          new ArrayList<>(FIXED_ARGUMENTS + orders.size() * ARGUMENTS_PER_ORDER);
      arguments.addAll(head);
      for (OrderResult order : orders) {
        arguments.add(order.orderId().toString());
        arguments.add(Long.toString(order.userId()));
        arguments.add(order.code());
        arguments.add(order.storedOrderId() == null ? "" : order.storedOrderId().toString());
        arguments.add(order.changedAt() == null ? "" : order.changedAt().toString());
      }
      List<String> keys = List.of(RedisKeys.sku(sku), RedisKeys.absent(Partition.ofSku(sku)));
      return new Call(sku, orders.size(), keys, arguments);
    }
  }
}
