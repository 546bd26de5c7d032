package io.seckill.consumer.sales;

import static java.util.stream.Collectors.toSet;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.products.RedisSaleState;
import io.seckill.consumer.runtime.RedisCallGuard;
import io.seckill.support.web.Operator;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;
import redis.clients.jedis.UnifiedJedis;

/**
 * Moves units between the shards of a SKU and its own row, which has the units of no shard: first
 * there, then to a shard (docs/adr/0028). Each half is a stock change of the shard. So it happens
 * once, {@link StockChanges#sweep} finishes it after a crash, and the ledger counts it meanwhile.
 * Two processes may move units of the same SKU.
 */
@Component
public class StockMoves {

  private static final Operator OPERATOR = new Operator("shards");
  private static final String REASON = "moved between shards";

  /** The sweep goes on with the change. */
  private static final RedisStock.Reply NO_ANSWER =
      new RedisStock.Reply(RedisStock.Answer.NOT_NOW, 0);

  /** Of one withdrawal: shoppers take units while they are gathered. */
  private static final int GATHERINGS = 3;

  /** Of a shard; a few, because one whose answer is lost waits seconds for the sweep. */
  public static final int MOST_BEGUN = 3;

  /** Changes of a SKU that are read; there may be more. */
  private static final int MOST_UNFINISHED = 100;

  private final StockChangeTable table;
  private final RedisStock redis;
  private final DatabaseStock mysql;
  private final TransactionOperations transactions;
  private final UnifiedJedis stocks;
  private final RedisCallGuard guard;
  private final Counter moved;

  StockMoves(
      StockChangeTable table,
      RedisStock redis,
      DatabaseStock mysql,
      TransactionOperations transactions,
      UnifiedJedis stocks,
      RedisCallGuard guard,
      MeterRegistry meters) {
    this.table = table;
    this.redis = redis;
    this.mysql = mysql;
    this.transactions = transactions;
    this.stocks = stocks;
    this.guard = guard;
    this.moved =
        Counter.builder("seckill.consumer.shard.moved.units")
            .description("Units given to shards")
            .register(meters);
  }

  /** Units of a shard: to be taken from it, or given to it, at least 1; or its stock. */
  public record Units(long shardId, long units) {}

  /** Whether a withdrawal finds its units in no shard. */
  enum Gathered {
    ENOUGH,
    TOO_FEW,
    /**
     * Units that move, or those of a shard that cannot be read now, may suffice; or a fallback of a
     * shard begins or ends.
     */
    MAYBE_LATER
  }

  /** Takes units from shards. One that has fewer by now, or that ends no moves, gives none. */
  public void take(List<Units> from) {
    List<StockChange> begun = transactions.execute(tx -> begin(from, -1));
    inMySql(begun, begun.stream().flatMap(change -> taken(change).stream()).toList());
  }

  /** MySQL's half of a change; none when Redis does not answer: the sweep goes on with it. */
  private Optional<Runnable> taken(StockChange change) {
    ProductSnapshot sale = mysql.sale(change.skuId());
    if (DatabaseStock.isOnlyInMySql(sale)) {
      return Optional.of(() -> mysql.withdraw(change, DatabaseStock.NOT_ASKED));
    }
    RedisStock.Reply reply = apply(change);
    return switch (reply.answer()) {
      case DONE -> Optional.of(() -> mysql.withdraw(change, reply.changeSeq()));
      case REFUSED ->
          Optional.of(() -> mysql.finish(change, ChangeState.REFUSED, reply.changeSeq()));
      case ABSENT ->
          sale.isClosed() ? Optional.of(() -> mysql.withdraw(change, 0)) : Optional.empty();
      case SUPERSEDED, NOT_NOW -> Optional.empty();
    };
  }

  /**
   * Gives units of no shard to shards; one for which there are too few, or that ends no moves, gets
   * none.
   */
  public void give(List<Units> to) {
    List<StockChange> given =
        transactions.execute(
            tx -> {
              List<StockChange> begun = begin(to, 1);
              begun.forEach(mysql::add);
              return begun.stream().map(table::read).toList();
            });
    inMySql(
        given,
        given.stream()
            .filter(change -> change.state() == ChangeState.MYSQL_DONE)
            .flatMap(change -> given(change).stream())
            .toList());
  }

  private Optional<Runnable> given(StockChange change) {
    RedisStock.Reply reply = apply(change);
    return reply.answer() == RedisStock.Answer.DONE
        ? Optional.of(
            () -> {
              mysql.finish(change, ChangeState.DONE, reply.changeSeq());
              moved.increment((double) change.delta());
            })
        : Optional.empty();
  }

  private void inMySql(List<StockChange> changes, List<Runnable> halves) {
    if (!halves.isEmpty()) {
      transactions.executeWithoutResult(
          tx -> {
            mysql.lock(changes);
            halves.forEach(Runnable::run);
          });
    }
  }

  private RedisStock.Reply apply(StockChange change) {
    RedisStock.Reply[] reply = {NO_ANSWER};
    guard.run(guard.partOf(change.skuId()), () -> reply[0] = redis.apply(change));
    return reply[0];
  }

  /**
   * Those of the shards whose moves do not end: their server may answer reads and refuse writes. No
   * plan may count on them, and every move would add a row.
   */
  public Set<Long> stuck(List<Long> shardIds) {
    List<Long> unfinished = table.unfinishedOf(shardIds);
    return unfinished.stream()
        .filter(shard -> Collections.frequency(unfinished, shard) >= MOST_BEGUN)
        .collect(toSet());
  }

  private List<StockChange> begin(List<Units> moves, int sign) {
    Set<Long> stuck = stuck(moves.stream().map(Units::shardId).toList());
    List<StockChange> begun = new ArrayList<>();
    // In the order of ids, in which every transaction locks rows.
    for (Units move : moves.stream().sorted(Comparator.comparingLong(Units::shardId)).toList()) {
      if (!stuck.contains(move.shardId())) {
        String id = "move-" + UUID.randomUUID();
        begun.add(
            table
                .insert(move.shardId(), id, sign * move.units(), REASON, OPERATOR)
                .orElseThrow(DatabaseStock::gone));
      }
    }
    return begun;
  }

  /**
   * Takes units from the shards with most stock until this many are in no shard; none when there
   * are fewer in all. For a withdrawal, whose row keeps them there, unless another one takes them.
   */
  Gathered gather(ProductSnapshot sku, long units) {
    boolean maybeLater = false;
    ProductSnapshot pool = sku;
    List<StockChange> moving = List.of();
    boolean enough = false;
    for (int round = 0; round < GATHERINGS; round++) {
      maybeLater = isBetween(sku); // before the units are read
      pool = mysql.sale(sku.skuId());
      long missing = units - pool.stock();
      if (missing <= 0) {
        return Gathered.ENOUGH;
      }
      moving = moving(sku); // after the pool, and before the shards
      List<Optional<Units>> read = sku.shardIds().stream().map(this::stock).toList();
      Set<Long> stuck = stuck(sku.shardIds());
      List<Units> stocks =
          read.stream()
              .flatMap(Optional::stream)
              .filter(shard -> !stuck.contains(shard.shardId()))
              .toList();
      maybeLater |= stocks.size() < read.size() || mayBring(moving, missing - sum(stocks));
      List<Units> from = richest(stocks, missing);
      enough = sum(from) == missing;
      if (enough) { // unless they are sold by now
        take(from);
      }
    }
    return enough || maybeLater || !moving(sku).equals(moving) || hasMovedSince(pool)
        ? Gathered.MAYBE_LATER
        : Gathered.TOO_FEW;
  }

  /** Whether unfinished moves, however they end, may bring so many units. */
  private static boolean mayBring(List<StockChange> moving, long missing) {
    return moving.size() == MOST_UNFINISHED
        || (!moving.isEmpty()
            && moving.stream().mapToLong(move -> Math.abs(move.delta())).sum() >= missing);
  }

  private static long sum(List<Units> units) {
    return units.stream().mapToLong(Units::units).sum();
  }

  /** Whether a fallback of the sale, or of one of its shards, begins or ends. */
  boolean isBetween(ProductSnapshot sale) {
    return DatabaseStock.isBetween(sale)
        || sale.shardIds().stream().map(mysql::sale).anyMatch(DatabaseStock::isBetween);
  }

  /** Whether units have come to no shard, or gone from there, since this row was read. */
  private boolean hasMovedSince(ProductSnapshot pool) {
    return mysql.sale(pool.skuId()).stateVersion() != pool.stateVersion();
  }

  /** The unfinished changes of its shards. */
  private List<StockChange> moving(ProductSnapshot sku) {
    return table.unfinished(sku.shardIds().get(0), "", 0, MOST_UNFINISHED).stream()
        .filter(change -> Shards.sku(change.skuId()) == sku.skuId())
        .toList();
  }

  /** Units that a shard can give; none when Redis does not answer, or has lost some of its data. */
  private Optional<Units> stock(long shard) {
    ProductSnapshot sale = mysql.sale(shard);
    if (DatabaseStock.isOnlyInMySql(sale)) {
      return Optional.of(
          new Units(shard, DatabaseStock.isBetween(sale) ? 0 : table.sellable(shard)));
    }
    List<Units> read = new ArrayList<>();
    guard.run(guard.partOf(shard), () -> stockInRedis(sale).ifPresent(read::add));
    return read.stream().findFirst();
  }

  private Optional<Units> stockInRedis(ProductSnapshot sale) {
    RedisSaleState seen = RedisSaleState.read(stocks, sale.skuId());
    if (seen.isAbsent() && sale.isClosed()) {
      return Optional.of(new Units(sale.skuId(), sale.stock())); // nothing of it is in flight
    }
    return Optional.ofNullable(seen.stock())
        .filter(stock -> !seen.isLostOf(sale))
        .map(stock -> new Units(sale.skuId(), Long.parseLong(stock)));
  }

  /** Takes what is missing from as few as can give it. */
  public static List<Units> richest(List<Units> stocks, long missing) {
    return first(
        missing,
        stocks.stream().sorted(Comparator.comparingLong(Units::units).reversed()).toList());
  }

  /** The first of these units, at most so many in all. */
  public static List<Units> first(long most, List<Units> of) {
    List<Units> taken = new ArrayList<>();
    long left = most;
    for (Units shard : of) {
      long units = Math.min(left, shard.units());
      if (units > 0) {
        taken.add(new Units(shard.shardId(), units));
        left -= units;
      }
    }
    return taken;
  }
}
