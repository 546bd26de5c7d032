package io.seckill.consumer.orders;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.runtime.RedisCallGuard;
import io.seckill.consumer.runtime.Sql;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import redis.clients.jedis.UnifiedJedis;

/**
 * Returns units to Redis from the rows of {@code compensation}. Thread-safe.
 *
 * <p>{@link #record} the units in the transaction that frees them, {@link #deliver} them after its
 * COMMIT. {@link CompensationSweep} later delivers those that were not delivered then, for any
 * reason; Redis applies the units of an order once, however often they are delivered.
 */
@Component
public class Compensations {

  private static final Logger log = LoggerFactory.getLogger(Compensations.class);

  /** Most compensations in one pipeline. */
  private static final int CHUNK = 500;

  private final CompensationTable table;
  private final JdbcOperations jdbc;
  private final UnifiedJedis redis;
  private final RedisCallGuard breaker;
  private final LuaScript script = LuaScript.from(Compensations.class, "compensate.lua");
  private final Counter done;

  Compensations(
      CompensationTable table,
      JdbcOperations jdbc,
      UnifiedJedis redis,
      RedisCallGuard breaker,
      MeterRegistry meters) {
    this.table = table;
    this.jdbc = jdbc;
    this.redis = redis;
    this.breaker = breaker;
    this.done =
        Counter.builder("seckill.consumer.compensations.done")
            .description("Compensations Redis has confirmed")
            .register(meters);
  }

  /**
   * Inserts compensations, in the caller's Spring-managed transaction and in one statement.
   *
   * @throws DataAccessException also when one of the orders has a compensation already; the caller
   *     rolls back
   * @throws IllegalStateException outside a transaction
   */
  public void record(Collection<Compensation> pending) {
    if (!TransactionSynchronizationManager.isActualTransactionActive()) {
      throw new IllegalStateException("a compensation is recorded by a transaction");
    }
    CompensationTable.insert(jdbc, pending);
  }

  /**
   * Returns the units to Redis and marks the rows done. Call it after COMMIT, never inside the
   * transaction. Does not throw when Redis or MySQL fails: the sweep delivers the rest. Returns
   * false when some part of Redis did not answer.
   */
  public boolean deliver(Collection<Compensation> pending) {
    Map<Integer, List<Compensation>> byPart =
        pending.stream().collect(Collectors.groupingBy(one -> breaker.partOf(one.skuId())));
    boolean delivered = true;
    for (Map.Entry<Integer, List<Compensation>> part : byPart.entrySet()) {
      for (List<Compensation> chunk : Sql.chunks(part.getValue(), CHUNK)) {
        delivered &= deliverChunk(part.getKey(), chunk);
      }
    }
    return delivered;
  }

  /**
   * As {@link #deliver}, for orders whose units Redis has lost or never received, whether or not
   * their rows are marked done.
   */
  public void deliverAgain(Collection<OrderId> orders) {
    for (List<OrderId> chunk : Sql.chunks(orders, CHUNK)) {
      var unused = deliver(table.of(chunk));
    }
  }

  private boolean deliverChunk(int part, List<Compensation> pending) {
    List<OrderId> settled = new ArrayList<>();
    Map<Long, List<OrderId>> ofLaterEpoch = new HashMap<>();
    if (!breaker.run(part, () -> send(pending, settled, ofLaterEpoch))) {
      return false;
    }
    if (!settled.isEmpty()) {
      markDone(settled);
    }
    return ofLaterEpoch.isEmpty() || deliverChunk(part, moved(ofLaterEpoch));
  }

  /** Empty when MySQL fails: the sweep tries again. */
  private List<Compensation> moved(Map<Long, List<OrderId>> toEpoch) {
    List<Compensation> moved = new ArrayList<>();
    try {
      toEpoch.forEach(
          (epoch, orders) -> {
            table.moveTo(epoch, orders);
            moved.addAll(table.of(orders));
          });
    } catch (DataAccessException e) {
      log.warn("compensations of dead letters are not delivered yet: {}", e.toString());
    }
    return moved;
  }

  private void markDone(List<OrderId> settled) {
    try {
      table.markDone(settled);
      done.increment(settled.size());
    } catch (DataAccessException e) {
      log.warn("{} compensations are done but not marked done: {}", settled.size(), e.toString());
    }
  }

  /**
   * @param settled gets the orders that need no further delivery
   * @param ofLaterEpoch gets, by epoch, those whose units belong to it
   */
  private void send(
      List<Compensation> pending, List<OrderId> settled, Map<Long, List<OrderId>> ofLaterEpoch) {
    List<Object> replies =
        script.callEach(
            redis,
            pending.stream().map(Compensations::keys).toList(),
            pending.stream().map(Compensations::arguments).toList());
    for (int i = 0; i < pending.size(); i++) {
      Compensation one = pending.get(i);
      Object reply = replies.get(i);
      if (reply instanceof String epoch) {
        ofLaterEpoch
            .computeIfAbsent(Long.valueOf(epoch), later -> new ArrayList<>())
            .add(one.orderId());
      } else if (isSettled(one, reply)) {
        settled.add(one.orderId());
      }
    }
  }

  private static boolean isSettled(Compensation one, Object reply) {
    return switch (((Long) reply).intValue()) {
      case 1, 2 -> true;
      case 3, 4 -> {
        log.info("order {}: epoch {} no longer needs compensation", one.orderId(), one.epoch());
        yield true;
      }
      case -1 -> false;
      default ->
          throw new IllegalStateException("compensate.lua and its caller disagree: " + reply);
    };
  }

  private static List<String> keys(Compensation one) {
    return List.of(RedisKeys.sku(one.skuId()), RedisKeys.absent(Partition.ofSku(one.skuId())));
  }

  private static List<String> arguments(Compensation one) {
    return List.of(
        RedisKeys.prefix(Partition.ofSku(one.skuId())),
        Long.toString(one.skuId()),
        Long.toString(one.userId()),
        one.orderId().toString(),
        Long.toString(one.epoch()),
        Integer.toString(one.stockUnits()),
        Integer.toString(one.quotaUnits()),
        Objects.requireNonNullElse(one.requestId(), ""));
  }
}
