package io.seckill.consumer.catalogue;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.sale.SalePhase;
import io.seckill.common.sale.SaleStates;
import io.seckill.consumer.fallback.FallbackSales;
import io.seckill.consumer.orders.Compensations;
import io.seckill.support.web.ProblemException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;
import redis.clients.jedis.UnifiedJedis;

/**
 * Loads a sale into Redis from one snapshot of MySQL, under an epoch that MySQL has raised before:
 * for a preheat, for a rebuild after a loss of data, and at the end of a fallback. Redis gets
 * MySQL's stock less the units that dead letters, open or replayed, may still take. A process that
 * dies in between leaves a sale that admits nothing, until the next loading.
 */
@Component
public class SaleLoader {

  private final DatabaseSnapshots snapshots;
  private final JdbcClient jdbc;
  private final UnifiedJedis redis;
  private final SaleStates states;
  private final TransactionOperations transactions;
  private final Compensations compensations;

  SaleLoader(
      DatabaseSnapshots snapshots,
      JdbcClient jdbc,
      UnifiedJedis redis,
      SaleStates states,
      TransactionOperations transactions,
      Compensations compensations) {
    this.snapshots = snapshots;
    this.jdbc = jdbc;
    this.redis = redis;
    this.states = states;
    this.transactions = transactions;
    this.compensations = compensations;
  }

  /**
   * Which data a loading may replace; never that of a running sale, which must be stopped first.
   */
  public enum Replacing {
    /** Only the data of a sale without orders in flight. */
    AT_REST,
    /** Any data: it is known to be lost or wrong, and the only information left is in MySQL. */
    ANYTHING
  }

  /**
   * What Redis holds now.
   *
   * @param state of the sale
   * @param stock units on sale
   * @param orders number of orders loaded
   */
  public record Loaded(String state, long stock, int orders) {}

  /**
   * Checks, before MySQL raises the epoch, that Redis could be loaded with a stopped sale now.
   *
   * @throws ProblemException 409 FOREIGN_KEY
   * @throws redis.clients.jedis.exceptions.JedisException when Redis refuses writes
   */
  public void probe(ProductSnapshot sale) {
    new SaleLoading(redis, sale).probe();
  }

  /**
   * @param epoch of this loading, as raised
   * @param beforeReplacing runs before each step that replaces something; throws to end the loading
   * @return empty when the closing time has moved meanwhile: the keys would expire too early, so
   *     the sale must be loaded again under another epoch
   * @throws ProblemException 409 when the sale runs, has orders in flight, or has another type of
   *     key in its place in Redis, and when another loading has begun
   */
  public Optional<Loaded> load(
      long skuId, long epoch, Replacing replacing, Runnable beforeReplacing) {
    return snapshots.read(
        database -> {
          ProductSnapshot sale = database.sale(skuId).orElseThrow();
          if (sale.epoch() != epoch) {
            throw SaleLoading.overtaken();
          }
          return load(sale, database, replacing, beforeReplacing);
        });
  }

  private Optional<Loaded> load(
      ProductSnapshot sale,
      DatabaseSnapshot database,
      Replacing replacing,
      Runnable beforeReplacing) {
    List<OrderMessage> dead = database.unsettledDeadLetters(sale.skuId());
    long reserved = dead.stream().mapToLong(OrderMessage::quantity).sum();
    long stock = Math.max(0, sale.stock() - reserved);
    SaleLoading loading = new SaleLoading(redis, sale);
    beforeReplacing.run();
    loading.clear(loading.begin(database.count(sale.skuId(), dead), replacing));
    int orders = write(sale, database, dead, loading.writer(), beforeReplacing);
    Map<String, String> contained = contained(database, sale);
    beforeReplacing.run();
    long settled = sale.lastSeq() - dead.size();
    Optional<String> state = finish(sale, loading, stock, contained, settled);
    // Those that were settled meanwhile had their units returned to the data that are replaced now.
    compensations.deliverAgain(dead.stream().map(OrderMessage::orderId).toList());
    return state.map(loaded -> new Loaded(loaded, stock, orders));
  }

  /** Writes quotas and orders as MySQL has them, and the orders that dead letters may become. */
  private static int write(
      ProductSnapshot sale,
      DatabaseSnapshot database,
      List<OrderMessage> dead,
      BucketWriter writer,
      Runnable beforeReplacing) {
    AtomicInteger orders = new AtomicInteger();
    EndedOrders endedOrders = new EndedOrders(writer, sale.buckets(), database.now());
    database.orders(
        sale.skuId(),
        page -> {
          beforeReplacing.run();
          endedOrders.write(page);
          orders.addAndGet(
              (int) page.values().stream().filter(order -> order.storedOrderId() == null).count());
        });
    endedOrders.finish();
    database.compensations(
        sale,
        page -> {
          beforeReplacing.run();
          page.forEach(
              (id, units) -> writer.compensated(id, units.userId(), units.stock(), units.quota()));
        });
    if (sale.policy().keepsQuota()) {
      Map<Long, Long> deadUnits =
          dead.stream()
              .collect(
                  Collectors.groupingBy(
                      OrderMessage::userId, Collectors.summingLong(OrderMessage::quantity)));
      database.quotas(
          sale.skuId(),
          page -> {
            beforeReplacing.run();
            page.forEach(
                (user, units) ->
                    writer.quota(
                        user, units + Optional.ofNullable(deadUnits.remove(user)).orElse(0L)));
          });
      deadUnits.forEach(writer::quota);
    }
    dead.forEach(order -> writer.order(order.orderId(), delayed(order, sale.epoch())));
    writer.flush();
    return orders.get();
  }

  /**
   * The record says that this epoch has taken the order's units, so that they return to it when the
   * order is rejected.
   */
  private static AdmissionRecord delayed(OrderMessage order, long epoch) {
    AdmissionRecord queued = AdmissionRecord.queued(order);
    return new AdmissionRecord(
        queued.userId(),
        queued.requestId(),
        queued.quantity(),
        queued.seq(),
        queued.admittedAt(),
        epoch,
        OrderStatus.DELAYED,
        null,
        queued.changedAt(),
        null);
  }

  /**
   * Stock additions that MySQL's stock contains and that may still be on their way to Redis, by id,
   * with the outcome that stock_change.lua stores for a change it has applied.
   */
  private static Map<String, String> contained(DatabaseSnapshot database, ProductSnapshot sale) {
    return database.changes(sale).entrySet().stream()
        .filter(change -> change.getValue().counted())
        .collect(
            Collectors.toMap(
                Map.Entry::getKey,
                change -> sale.epoch() + ":" + change.getValue().delta() + ":A"));
  }

  /**
   * Respects a pause or close of the sale during the loading: the row stays locked until Redis has
   * its state and the number of its change, so a change of state comes earlier, and is in the row,
   * or after. A stop that waits in Redis stays in force. A sale that returns from a fallback is
   * decided by Redis from the COMMIT on, and has the state in Redis before.
   *
   * @param settled orders that MySQL had settled at the loading, on the scale of Redis's sequence
   * @return the state that the sale has now
   */
  private Optional<String> finish(
      ProductSnapshot loaded,
      SaleLoading loading,
      long stock,
      Map<String, String> contained,
      long settled) {
    Optional<String> state =
        transactions.execute(
            tx -> {
              ProductSnapshot now = DatabaseSnapshot.lockSale(jdbc, loaded.skuId()).orElseThrow();
              if (now.epoch() != loaded.epoch()) {
                throw SaleLoading.overtaken();
              }
              if (!now.closesAt().equals(loaded.closesAt())) {
                return Optional.empty();
              }
              long version = now.stateVersion();
              if (now.phase() == SalePhase.RETURNING) {
                FallbackSales.end(jdbc, now.skuId(), settled + now.settled() - loaded.settled());
                version++;
              }
              loading.finish(stock, contained, now.state());
              states.follow(now.skuId(), now.state(), now.epoch(), version, null);
              return Optional.of(now.state());
            });
    return Objects.requireNonNull(state);
  }
}
