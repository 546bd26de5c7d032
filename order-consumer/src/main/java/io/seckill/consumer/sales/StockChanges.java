package io.seckill.consumer.sales;

import io.seckill.consumer.products.Product;
import io.seckill.consumer.products.ProductRows;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.runtime.RedisCallGuard;
import io.seckill.consumer.runtime.SqlFailure;
import io.seckill.consumer.runtime.Sweeper;
import io.seckill.support.web.Operator;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Carries out changes from their rows, step by step; every step may be executed twice, by two
 * processes.
 *
 * <p>An addition goes to MySQL first, so that Redis never offers units that MySQL lacks. A
 * withdrawal goes to Redis first, so that no order is admitted for units that are about to be
 * withdrawn. Its MySQL half then cannot fail while both stores agree: by the conservation equation
 * MySQL's stock is Redis's stock, plus the units of all orders in flight, plus those returned to
 * MySQL and not yet to Redis. So {@code stock >= n} holds in MySQL before the withdrawal, whichever
 * of those orders is stored first, because the n units taken from Redis were in neither of the
 * other two sums. Where Redis had more than it should, after a loss of data, the guard in MySQL
 * refuses, and the units go back to Redis and are left to reconciliation.
 *
 * <p>A preheat rewrites Redis from MySQL. So each half is applied under the epoch it is meant for:
 * an addition's epoch is read while the product row is locked, and a later epoch already includes
 * the addition; a withdrawal whose epoch has passed before its MySQL half begins again in the new
 * one.
 *
 * <p>A sale that only MySQL has, because it is a strong one or was never preheated, is changed
 * there in one transaction; so is a sale that MySQL decides in a fallback, and a SKU with shards:
 * its own row has the units of none of them ({@link StockMoves}). While a fallback begins or ends,
 * changes wait.
 */
@Component
record StockChanges(
    StockChangeTable table,
    RedisStock redis,
    DatabaseStock mysql,
    StockMoves moves,
    ShardProofs proofs,
    RedisCallGuard guard,
    JdbcClient jdbc,
    TransactionOperations transactions) {

  private static final Logger log = LoggerFactory.getLogger(StockChanges.class);

  /** Steps of one call; a change needs three, and some more when preheats come in between. */
  private static final int MAX_STEPS = 16;

  private static final int IDLE_SECONDS = 2;
  private static final int PAGE = 100;

  /** Only a change that Redis did not confirm waits for the sweep, with its operator. */
  private static final Duration PAUSE = Duration.ofSeconds(5);

  /** Whether a change has advanced, or must wait for something else to happen. */
  private enum Step {
    ON,
    WAIT
  }

  /**
   * Makes the change, or finishes one that was begun under the same id.
   *
   * @return DONE or REFUSED
   * @throws ProblemException 404 UNKNOWN_SKU, 409 ARCHIVED, 422 IDEMPOTENCY_KEY_REUSED when the id
   *     was used for another number of units, 503 when it is not finished: the sweep completes it,
   *     and the same request returns the outcome; 503 BUSY while a fallback begins or ends
   */
  StockChange change(long skuId, String changeId, long delta, String reason, Operator operator) {
    Optional<ProductSnapshot> sale = ProductRows.find(jdbc, skuId);
    if (sale.filter(ProductSnapshot::archived).isPresent()) {
      throw Product.archived();
    }
    if (sale.filter(delta < 0 ? moves::isBetween : DatabaseStock::isBetween).isPresent()) {
      throw ProblemException.of(
          ProblemCode.BUSY, "A fallback begins or ends; send the same request again.");
    }
    StockChange change =
        table
            .insert(skuId, changeId, delta, reason, operator)
            .orElseThrow(() -> ProblemException.of(ProblemCode.UNKNOWN_SKU));
    if (change.delta() != delta) {
      throw ProblemException.of(
          ProblemCode.IDEMPOTENCY_KEY_REUSED, "The key was used for another number of units.");
    }
    StockChange driven = drive(change);
    if (!driven.state().isFinal()) {
      throw ProblemException.of(
          ProblemCode.UNAVAILABLE,
          "The change is recorded and waits for the sale in Redis; if the sale is over, close it."
              + " Then send the same request again.");
    }
    return driven;
  }

  @Bean
  Sweeper stockChangeSweeper() {
    return new Sweeper("stock-change-sweep", PAUSE, this::sweep);
  }

  /**
   * Continues changes that a crash or Redis has interrupted, page by page. A part of Redis that
   * does not answer is left out for the rest of the round, which ends without MySQL. Two processes
   * may do so at once.
   */
  void sweep() {
    Set<Integer> unavailable = new HashSet<>();
    long skuId = 0;
    String changeId = "";
    List<StockChange> page;
    do {
      page = table.unfinished(skuId, changeId, IDLE_SECONDS, PAGE);
      for (StockChange change : page) {
        driveOrWait(change, unavailable);
        skuId = change.skuId();
        changeId = change.changeId();
      }
    } while (page.size() == PAGE && !Thread.currentThread().isInterrupted());
  }

  private void driveOrWait(StockChange change, Set<Integer> unavailable) {
    int part = guard.partOf(change.skuId());
    try {
      if (!unavailable.contains(part) || DatabaseStock.isOnlyInMySql(mysql.sale(change.skuId()))) {
        drive(change);
      }
    } catch (RuntimeException e) { // the others go on
      SqlFailure.throwIfAway(e);
      if (e instanceof JedisException) {
        unavailable.add(part);
      }
      log.warn("Change {} of sku {} waits: {}", change.changeId(), change.skuId(), e.toString());
    }
  }

  private StockChange drive(StockChange begun) {
    StockChange change = begun;
    for (int steps = 0; steps < MAX_STEPS && !change.state().isFinal(); steps++) {
      if (step(change) == Step.WAIT) {
        return change;
      }
      change = table.read(change);
    }
    return change;
  }

  private Step step(StockChange change) {
    ProductSnapshot sale = mysql.sale(change.skuId());
    if (DatabaseStock.isBetween(sale)) {
      return Step.WAIT;
    }
    return switch (change.state()) {
      case PENDING ->
          change.isAddition() ? addToMySql(change, sale.shardIds()) : takeFromRedis(change, sale);
      case MYSQL_DONE -> addToRedis(change, sale);
      case UNDOING -> undoInRedis(change);
      case DONE, REFUSED -> Step.ON;
    };
  }

  /** The units may be on sale although the answer to COMMIT is lost. */
  private Step addToMySql(StockChange change, List<Long> shards) {
    try {
      transactions.executeWithoutResult(tx -> mysql.add(change));
    } finally {
      proofs.takeBack(shards);
    }
    return Step.ON;
  }

  private Step addToRedis(StockChange change, ProductSnapshot sale) {
    if (sale.epoch() != change.epoch() || DatabaseStock.isOnlyInMySql(sale)) {
      table.move(change, ChangeState.DONE, change.epoch());
      return Step.ON;
    }
    RedisStock.Reply reply = redis.apply(change);
    return switch (reply.answer()) {
      case DONE, SUPERSEDED -> finish(change, ChangeState.DONE, reply);
      // A preheat or a rebuild may be about to write a stock that it read before the addition.
      case ABSENT ->
          sale.isClosed() || sale.ended() ? finish(change, ChangeState.DONE, reply) : Step.WAIT;
      case REFUSED, NOT_NOW -> Step.WAIT;
    };
  }

  private Step takeFromRedis(StockChange change, ProductSnapshot sale) {
    if (sale.epoch() != change.epoch()) {
      return restart(change, sale.epoch());
    }
    if (!sale.shardIds().isEmpty()) {
      return takeFromShards(change, sale);
    }
    if (DatabaseStock.isOnlyInMySql(sale)) {
      return withdrawFromMySql(change, DatabaseStock.NOT_ASKED);
    }
    RedisStock.Reply reply = redis.apply(change);
    return switch (reply.answer()) {
      case DONE -> withdrawFromMySql(change, reply.changeSeq());
      case REFUSED -> finish(change, ChangeState.REFUSED, reply);
      // Without Redis the orders in flight are unknown, unless the sale is over.
      case ABSENT -> sale.isClosed() ? withdrawFromMySql(change, 0) : Step.WAIT;
      case SUPERSEDED, NOT_NOW ->
          mysql.sale(change.skuId()).epoch() == change.epoch() ? Step.WAIT : Step.ON;
    };
  }

  private Step takeFromShards(StockChange change, ProductSnapshot sku) {
    return switch (moves.gather(sku, -change.delta())) {
      case ENOUGH -> withdrawFromMySql(change, DatabaseStock.NOT_ASKED);
      case TOO_FEW -> {
        table.move(change, ChangeState.REFUSED, change.epoch());
        yield Step.ON;
      }
      case MAYBE_LATER -> Step.WAIT;
    };
  }

  private Step withdrawFromMySql(StockChange change, long changeSeq) {
    transactions.executeWithoutResult(tx -> mysql.withdraw(change, changeSeq));
    return Step.ON;
  }

  private Step undoInRedis(StockChange change) {
    RedisStock.Reply reply = redis.undo(change);
    return reply.answer() == RedisStock.Answer.NOT_NOW
        ? Step.WAIT
        : finish(change, ChangeState.REFUSED, reply);
  }

  private Step restart(StockChange change, long epoch) {
    table.move(change, ChangeState.PENDING, epoch);
    return Step.ON;
  }

  private Step finish(StockChange change, ChangeState state, RedisStock.Reply reply) {
    transactions.executeWithoutResult(tx -> mysql.finish(change, state, reply.changeSeq()));
    return Step.ON;
  }
}
