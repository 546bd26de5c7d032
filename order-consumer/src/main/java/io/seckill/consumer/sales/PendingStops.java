package io.seckill.consumer.sales;

import io.seckill.common.order.Partition;
import io.seckill.common.sale.PendingStop;
import io.seckill.common.sale.SaleState;
import io.seckill.common.sale.SaleStates;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.products.Product;
import io.seckill.consumer.products.Products;
import io.seckill.consumer.runtime.RedisCallGuard;
import io.seckill.consumer.runtime.SqlFailure;
import io.seckill.consumer.runtime.Sweeper;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.web.AuditLog;
import io.seckill.support.web.Operator;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/** Copies operators' stops from the store that has them to the store that was unavailable. */
@Component
record PendingStops(
    Products products,
    SaleStates states,
    RememberedStops remembered,
    StateFollower follower,
    TransactionOperations transactions,
    AuditLog audit,
    RedisCallGuard guard) {

  private static final Logger log = LoggerFactory.getLogger(PendingStops.class);

  /** How long a store that is available again may lack a stop that the other store has. */
  private static final Duration PAUSE = Duration.ofSeconds(1);

  /** A stop and the product's row after MySQL has applied it, if there is such a row. */
  private record Taken(PendingStop stop, Optional<ProductRow> row) {}

  /**
   * Writes the stop of a sale that is pending in Redis to MySQL, and removes it from Redis. A stop
   * that the state in MySQL does not allow is removed as well: such a sale does not run. A strong
   * sale has one when a gateway had not read the product yet. The stop of a shard stops its SKU
   * with all shards; the sweep stops the others in Redis. If the SKU was opened since, the stop is
   * removed alone.
   *
   * <p>The stop is read while the row is locked, and removed before any process may open the sale
   * in Redis. So no opening has followed a stop that is still pending, and a slow process never
   * stops a sale that was resumed since. In a fallback a sale is opened without Redis: a stop is
   * removed alone if the sale may have changed since.
   *
   * @throws JedisException when Redis is unavailable, or it is unknown whether the stop was removed
   */
  void carry(long skuId) {
    if (states.pendingStop(skuId).isEmpty()) {
      return;
    }
    transactions.execute(tx -> take(skuId)).ifPresent(this::end);
  }

  private Optional<Taken> take(long skuId) {
    List<Product> locked = products.lockWithShards(skuId);
    return states
        .pendingStop(skuId)
        .map(
            stop -> {
              if (!hasMissedAnOpening(skuId, locked) && !hasChangedInFallback(skuId, locked)) {
                SaleState target = SaleState.valueOf(stop.state());
                locked.forEach(product -> product.move(target, 0));
              }
              return new Taken(
                  stop,
                  locked.stream().map(Product::row).filter(row -> row.skuId() == skuId).findAny());
            });
  }

  /**
   * Whether the stop of a shard came before an opening, which the shard has missed, perhaps with
   * others of its server: another one has followed it and has no stop. A stop that Redis alone has
   * confirmed is recorded in every shard, and keeps each from following an opening, until MySQL has
   * it.
   */
  private boolean hasMissedAnOpening(long id, List<Product> rows) {
    return Shards.isShard(id)
        && rows.stream().anyMatch(row -> row.skuId() == id && isBehindAnOpening(row))
        && rows.stream()
            .filter(row -> row.skuId() != id && row.phase().redisDecides())
            .anyMatch(this::hasFollowed);
  }

  private boolean hasChangedInFallback(long id, List<Product> rows) {
    return rows.stream()
        .filter(row -> row.skuId() == id && row.phase().isInFallback())
        .anyMatch(row -> !RememberedStops.isLast(states.version(id), row));
  }

  private boolean isBehindAnOpening(Product row) {
    return row.state() == SaleState.OPEN
        && row.phase().redisDecides()
        && states.version(row.skuId()) < row.row().stateVersion();
  }

  /** Whether this shard answers and has its state of MySQL. */
  private boolean hasFollowed(Product shard) {
    long id = shard.skuId();
    AtomicBoolean followed = new AtomicBoolean();
    guard.run(
        guard.partOf(id),
        () ->
            followed.set(
                states.version(id) >= shard.row().stateVersion()
                    && states.pendingStop(id).isEmpty()));
    return followed.get();
  }

  private void end(Taken taken) {
    PendingStop stop = taken.stop();
    ProductRow row = taken.row().orElse(null);
    if (row == null) {
      states.follow(stop.skuId(), stop.state(), 0, 0, stop);
    } else {
      states.follow(row.skuId(), row.state().name(), row.epoch(), row.stateVersion(), stop);
    }
  }

  /**
   * The stop that is pending in Redis and that a stop in MySQL to this state writes there, too;
   * null for none. A pending close is no part of a pause, and is written before.
   *
   * @throws JedisException as {@link #carry}
   */
  @Nullable PendingStop includedIn(long skuId, SaleState target) {
    PendingStop pending = states.pendingStop(skuId).orElse(null);
    if (pending != null && SaleState.valueOf(pending.state()).compareTo(target) > 0) {
      carry(skuId);
      return null;
    }
    return pending;
  }

  /**
   * Writes a state that MySQL has to Redis, and removes the pending stop stored with it, if any. If
   * Redis does not answer, {@link #sweep} writes it later.
   */
  void follow(ProductRow row, @Nullable PendingStop included) {
    try {
      states.follow(row.skuId(), row.state().name(), row.epoch(), row.stateVersion(), included);
    } catch (JedisException e) {
      log.warn(
          "sku {} is {} in MySQL; Redis is updated later: {}",
          row.skuId(),
          row.state(),
          e.toString());
    }
  }

  @Bean
  Sweeper pendingStopSweeper() {
    return new Sweeper("pending-stops", PAUSE, this::sweep);
  }

  /**
   * Copies every stop that one of the stores has missed, and the opening of a shard that Redis has
   * missed; one that fails, and a partition whose server does not answer, keep no other waiting.
   * MySQL gets the stops that such a partition had before. Without MySQL the round ends: each stop
   * would wait for a connection, and those asked meanwhile would not be remembered.
   */
  void sweep() {
    Map<Integer, List<PendingStop>> read = new HashMap<>();
    for (int p = 0; p < guard.parts(); p++) {
      int part = p;
      guard.run(part, () -> readPart(part, read));
    }
    read.values()
        .forEach(stops -> stops.forEach(stop -> carryOrWait(stop, () -> carry(stop.skuId()))));
    remembered
        .besides(read.keySet())
        .forEach(one -> carryOrWait(one.stop(), () -> remembered.take(one)));
    follower.follow(read.keySet());
  }

  private void readPart(int part, Map<Integer, List<PendingStop>> read) {
    List<Integer> partitions =
        IntStream.range(0, Partition.COUNT).filter(p -> p % guard.parts() == part).boxed().toList();
    List<SaleStates.Stops> together = together(partitions);
    for (int i = 0; i < partitions.size(); i++) {
      int partition = partitions.get(i);
      SaleStates.Stops stops = together.isEmpty() ? null : together.get(i);
      read(partition, () -> stops == null ? states.stops(partition) : stops, read);
    }
  }

  /** In one round trip; none for a partition alone, and where one cannot be read. */
  private List<SaleStates.Stops> together(List<Integer> partitions) {
    try {
      return partitions.size() == 1 ? List.of() : states.stops(partitions);
    } catch (JedisDataException e) { // perhaps of one partition only
      log.debug("the pending stops cannot be read together: {}", e.toString());
      return List.of();
    }
  }

  private void read(
      int partition, Supplier<SaleStates.Stops> reading, Map<Integer, List<PendingStop>> read) {
    try {
      SaleStates.Stops stops = reading.get();
      read.put(partition, stops.pending());
      stops.wrong().forEach((field, text) -> remove(partition, field, text));
      remembered.remember(partition, stops.pending());
    } catch (JedisDataException e) { // Redis answers
      log.warn("The pending stops of partition {} cannot be read: {}", partition, e.toString());
    }
  }

  /** Nothing would end it, and an unreadable one keeps its sale from opening. */
  private void remove(int partition, String field, String text) {
    states.removeWrong(partition, field, text);
    log.warn(
        "The hash of pending stops of partition {} had {} of {} characters: removed",
        partition,
        field.matches("\\d{1,18}") ? "an entry of sku " + field : "another entry",
        text.length());
  }

  private void carryOrWait(PendingStop stop, Runnable carrying) {
    try {
      carryAudited(stop, carrying);
    } catch (RuntimeException e) {
      SqlFailure.throwIfAway(e);
      log.warn(
          "sku {}: the stop asked at {} waits: {}", stop.skuId(), stop.askedAt(), e.toString());
    }
  }

  private void carryAudited(PendingStop stop, Runnable carrying) {
    audit.audited(
        new Operator(stop.operator()),
        "stop",
        "sku=" + Shards.sku(stop.skuId()),
        () -> {
          carrying.run();
          return products.findBySkuId(stop.skuId());
        },
        row -> "state=" + row.map(Product::state).orElse(null) + " asked=" + stop.askedAt());
  }
}
