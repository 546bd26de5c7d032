package io.seckill.consumer.loading;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.sale.SalePhase;
import io.seckill.common.sale.SaleStates;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.fallback.FallbackSales;
import io.seckill.consumer.orders.Compensations;
import io.seckill.consumer.orders.OrderTotals;
import io.seckill.consumer.products.ProductRows;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.support.web.ProblemException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
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

  private static final Logger log = LoggerFactory.getLogger(SaleLoader.class);

  /** Operators do not move the closing time more often while a sale is loaded. */
  public static final int MOST_LOADINGS = 3;

  /** Orders stored while the ones before them were written: with fewer, the sale is stopped. */
  private static final int MANY = 500;

  /** Of catching up; MySQL may store faster than the changes are written. */
  private static final int MOST_ROUNDS = 10;

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
   * The data that a loading may replace; never those of a running sale, which must be stopped
   * first.
   */
  public enum Replacing {
    /** Only the data of a sale without orders in flight. */
    AT_REST,
    /** Any data: it is known to be lost or wrong, and the only information left is in MySQL. */
    ANYTHING
  }

  /**
   * The sale as Redis has it now.
   *
   * @param stock units on sale
   */
  public record Loaded(String state, long stock, int orders) {}

  /**
   * Checks, before MySQL raises the epoch, that Redis could be loaded with a stopped sale now.
   *
   * @throws ProblemException 409 FOREIGN_KEY
   * @throws redis.clients.jedis.exceptions.JedisException when Redis refuses writes
   */
  public void probe(ProductSnapshot sale) {
    new SaleLoading(redis, sale, sale.buckets()).probe();
  }

  /**
   * Of a sale in a fallback MySQL sells on while most is written, and is stopped for the rest.
   *
   * @param epoch of this loading, as raised
   * @param beforeReplacing runs before each step that replaces something; throws to end the loading
   * @return empty when the closing time, or another rule, has changed meanwhile: the sale must be
   *     loaded again under another epoch
   * @throws ProblemException 409 when the sale runs, has orders in flight, or has another type of
   *     key in its place in Redis, and when another loading has begun
   */
  public Optional<Loaded> load(
      long skuId, long epoch, Replacing replacing, Runnable beforeReplacing) {
    SalePhase phase = ProductRows.find(jdbc, skuId).orElseThrow().phase();
    return phase == SalePhase.LOADING
        ? whileMySqlSells(skuId, epoch, replacing, beforeReplacing)
        : snapshots.read(
            database -> atOnce(sale(database, skuId, epoch), database, replacing, beforeReplacing));
  }

  private static ProductSnapshot sale(DatabaseSnapshot database, long skuId, long epoch) {
    ProductSnapshot sale = database.sale(skuId).orElseThrow();
    if (sale.epoch() != epoch) {
      throw SaleLoading.overtaken();
    }
    return sale;
  }

  /** With buckets for a shard's part of the units of no shard, too: it gets them as it sells. */
  private SaleLoading steps(ProductSnapshot sale, DatabaseSnapshot database) {
    ProductSnapshot sku = database.sale(Shards.sku(sale.skuId())).orElseThrow();
    int part = (sku.buckets() + sku.shards() - 1) / sku.shards();
    return new SaleLoading(redis, sale, Math.max(sale.buckets(), part));
  }

  private Optional<Loaded> atOnce(
      ProductSnapshot sale,
      DatabaseSnapshot database,
      Replacing replacing,
      Runnable beforeReplacing) {
    List<OrderMessage> dead = database.unsettledDeadLetters(sale.skuId());
    WrittenOrders written =
        WrittenOrders.write(
            steps(sale, database), sale, database, dead, replacing, beforeReplacing);
    return load(sale, database, dead, written.steps(), written.orders(), beforeReplacing);
  }

  /**
   * A first snapshot is written while MySQL sells on, and then the changes since, until there are
   * few. The sale is stopped only for the changes that are left. The orders that dead letters may
   * become are written last: until then they may change.
   */
  private Optional<Loaded> whileMySqlSells(
      long skuId, long epoch, Replacing replacing, Runnable beforeReplacing) {
    ChangedOrders changes =
        snapshots.read(
            database -> {
              ProductSnapshot sale = sale(database, skuId, epoch);
              String time = database.beforeNow(); // the writing takes long
              WrittenOrders written =
                  WrittenOrders.write(
                      steps(sale, database), sale, database, List.of(), replacing, beforeReplacing);
              return new ChangedOrders(database, time, sale, written);
            });
    int stored = MANY;
    for (int round = 0; round < MOST_ROUNDS && stored >= MANY; round++) {
      stored =
          snapshots.read(
              database -> changes.write(database, sale(database, skuId, epoch), beforeReplacing));
    }
    beforeReplacing.run();
    if (!FallbackSales.stop(jdbc, skuId, epoch)) {
      throw SaleLoading.overtaken();
    }
    return snapshots.read(
        database -> {
          ProductSnapshot sale = sale(database, skuId, epoch);
          SaleLoading steps = changes.written().steps();
          if (!steps.hasRulesOf(sale)) {
            return Optional.empty();
          }
          List<OrderMessage> dead = database.unsettledDeadLetters(skuId);
          int last = changes.write(database, sale, beforeReplacing);
          log.info("sku {}: stopped for {} orders of {}", skuId, last, changes.orders());
          if (!changes.areAll(database, sale)) {
            throw SaleLoading.inFlight("Orders were stored meanwhile that the loading lacks.");
          }
          changes.writeDead(database, sale, dead);
          return load(sale, database, dead, steps, changes.orders(), beforeReplacing);
        });
  }

  /** Puts a sale on sale whose orders and quotas are written. */
  private Optional<Loaded> load(
      ProductSnapshot sale,
      DatabaseSnapshot database,
      List<OrderMessage> dead,
      SaleLoading steps,
      int orders,
      Runnable beforeReplacing) {
    long reserved = dead.stream().mapToLong(OrderMessage::quantity).sum();
    long stock = Math.max(0, sale.stock() - reserved);
    Map<String, String> contained = contained(database, sale);
    OrderTotals stored = database.count(sale.skuId(), dead);
    beforeReplacing.run();
    Optional<String> state =
        finish(
            sale,
            now -> steps.finish(sale, stock, stored, contained, now.state()),
            sale.lastSeq() - dead.size());
    // Those that were settled meanwhile had their units returned to the data that are replaced now.
    compensations.deliverAgain(dead.stream().map(OrderMessage::orderId).toList());
    return state.map(loaded -> new Loaded(loaded, stock, orders));
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
   * @param lastStep puts the sale, as it is now, on sale in Redis
   * @param settled orders that MySQL had settled at the loading, on the scale of Redis's sequence
   * @return the state that the sale has now
   */
  private Optional<String> finish(
      ProductSnapshot loaded, Consumer<ProductSnapshot> lastStep, long settled) {
    return transactions.execute(
        tx -> {
          ProductSnapshot now = ProductRows.lock(jdbc, loaded.skuId()).orElseThrow();
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
          lastStep.accept(now);
          states.follow(now.skuId(), now.state(), now.epoch(), version, null);
          return Optional.of(now.state());
        });
  }
}
