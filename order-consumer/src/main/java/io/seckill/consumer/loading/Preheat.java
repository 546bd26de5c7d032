package io.seckill.consumer.loading;

import io.seckill.common.sale.SaleExpiry;
import io.seckill.common.sale.SalePhase;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.fallback.FallbackTable;
import io.seckill.consumer.loading.InFlightCheck.InFlightProof;
import io.seckill.consumer.loading.SaleLoader.Replacing;
import io.seckill.consumer.products.Product;
import io.seckill.consumer.products.ProductRows;
import io.seckill.consumer.products.Products;
import io.seckill.consumer.products.RedisSaleState;
import io.seckill.consumer.runtime.ConnectionPools;
import io.seckill.consumer.runtime.ConnectionShare;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import java.time.Instant;
import java.util.function.BiConsumer;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Loads a SKU's stock, rules and earlier orders from MySQL into Redis under a new epoch, before its
 * sale opens. MySQL raises the epoch first; every later step checks it. So a crash at any point, or
 * two operators at once, leave either the old sale closed, or an unfinished loading that admits
 * nothing, or the finished one. To recover, repeat the preheat.
 *
 * <p>A strong sale is only given a new epoch in MySQL: nothing of it is ever in flight. So is the
 * row of a SKU with shards, and then each of them is loaded.
 *
 * <p>Until the sales of a fallback return only strong ones are preheated: Redis alone would sell
 * the others, and no fallback begins while there is one. The row of {@code fallback} is locked
 * before any product, as when a fallback begins.
 */
@Component
public class Preheat {

  /** With the other waits of a preheat, much shorter than the gateway's time-out for one. */
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final Products products;
  private final InFlightCheck inFlight;
  private final RedisSafety safety;
  private final SaleLoader loader;
  private final PreheatProperties settings;
  private final JdbcClient jdbc;
  private final TransactionOperations transactions;
  private final UnifiedJedis redis;
  private final ConnectionShare connections =
      new ConnectionShare(ConnectionPools.PREHEATS, PATIENCE);

  Preheat(
      Products products,
      InFlightCheck inFlight,
      RedisSafety safety,
      SaleLoader loader,
      PreheatProperties settings,
      JdbcClient jdbc,
      TransactionOperations transactions,
      UnifiedJedis redis) {
    this.products = products;
    this.inFlight = inFlight;
    this.safety = safety;
    this.loader = loader;
    this.settings = settings;
    this.jdbc = jdbc;
    this.transactions = transactions;
    this.redis = redis;
  }

  /**
   * A closed sale may have orders that MySQL has lost, and that operators have looked at ({@link
   * LostOrderConsent}): they are given up.
   *
   * @param givesUp called with the number of such orders of a product as soon as MySQL has the new
   *     epoch, of shards for each; not without such orders
   * @return the row with its new epoch, once Redis holds it unless the sale is a strong one
   * @throws ProblemException 404 UNKNOWN_SKU; 409 ARCHIVED, SALE_RUNNING, ORDERS_IN_FLIGHT,
   *     PREHEAT_OVERTAKEN, FOREIGN_KEY, UNSAFE_REDIS, REFUSED during a fallback, when the closing
   *     time is so long ago that Redis forgets the sale, or there are too many shards for the
   *     stock; 503 BUSY when too many sales are being loaded
   * @throws JedisException when Redis is unavailable: the sale admits nothing until the preheat is
   *     repeated
   */
  public ProductRow run(long skuId, BiConsumer<Long, Long> givesUp) {
    Product product = find(skuId);
    if (product.phase() == SalePhase.STRONG) {
      return transactions.execute(tx -> beginInMySql(skuId, SalePhase.STRONG));
    }
    refuseInFallback(product);
    refuseInFallback();
    safety.refuseUnsafe();
    if (product.phase() == SalePhase.SHARDED) {
      refuseRunning(product);
      product.shardIds().forEach(this::refuseShard);
      return connections.within(() -> loadShards(skuId, givesUp));
    }
    refuseByRedis(product);
    return connections.within(() -> load(skuId, givesUp));
  }

  private Product find(long skuId) {
    return products.findBySkuId(skuId).orElseThrow(Product::unknown).refuseArchived();
  }

  /** A failure leaves some shards preheated and others not; a repeat begins anew with all. */
  private ProductRow loadShards(long skuId, BiConsumer<Long, Long> givesUp) {
    ProductRow row =
        transactions.execute(
            tx -> {
              refuseInFallback();
              return beginInMySql(skuId, SalePhase.SHARDED);
            });
    Shards.ids(skuId, row.shards()).forEach(shard -> loadShard(shard, givesUp));
    return products.readWithShards(skuId);
  }

  private void loadShard(long skuId, BiConsumer<Long, Long> givesUp) {
    safety.refuseUnsafe();
    refuseByRedis(find(skuId));
    var unused = load(skuId, givesUp);
  }

  /**
   * Refuses before the SKU gets a new epoch what the preheat of a shard would refuse after that.
   * That preheat checks again, with the row locked.
   */
  private void refuseShard(long skuId) {
    Product shard = find(skuId);
    refuseInFallback(shard);
    refuseRunning(shard);
    refuseByRedis(shard);
    InFlightProof proof = inFlight.prove(shard);
    Product proven = find(skuId);
    var unused = inFlight.of(proven, RedisSaleState.readRules(redis, skuId), proof).refuse();
  }

  private void refuseInFallback() {
    if (!FallbackTable.redisTakesSales(jdbc)) {
      throw inFallback();
    }
  }

  private static void refuseInFallback(Product product) {
    if (product.phase().isInFallback()) {
      throw inFallback();
    }
  }

  private static ProblemException inFallback() {
    return ProblemException.of(
        ProblemCode.REFUSED, "MySQL decides sales until the fallback ends; preheat it then.");
  }

  private ProductRow load(long skuId, BiConsumer<Long, Long> givesUp) {
    for (int loadings = 0; loadings < SaleLoader.MOST_LOADINGS; loadings++) {
      long epoch = raiseEpoch(skuId, givesUp);
      if (loader.load(skuId, epoch, Replacing.AT_REST, () -> {}).isPresent()) {
        return products.findBySkuId(skuId).orElseThrow(Product::unknown).row();
      }
    }
    throw SaleLoading.overtaken();
  }

  /**
   * Refuses a sale before MySQL raises the epoch that the loading would refuse after that: one with
   * foreign keys in Redis, or one that runs in Redis alone, for example because MySQL was restored
   * from a backup.
   */
  private void refuseByRedis(Product product) {
    loader.probe(ProductRows.find(jdbc, product.skuId()).orElseThrow(Product::unknown));
    RedisSaleState seen = RedisSaleState.readRules(redis, product.skuId());
    if (seen.isRunning()) {
      throw seen.isNewerThan(product.epoch())
          ? SaleLoading.runningAlone(seen.state())
          : SaleLoading.running(seen.state());
    }
  }

  private long raiseEpoch(long skuId, BiConsumer<Long, Long> givesUp) {
    InFlightProof proof = inFlight.prove(products.findBySkuId(skuId).orElseThrow(Product::unknown));
    BegunEpoch begun = transactions.execute(tx -> begin(skuId, proof));
    if (begun.lost() > 0) {
      givesUp.accept(skuId, begun.lost());
    }
    return begun.epoch();
  }

  /**
   * An epoch that MySQL has.
   *
   * @param lost orders of the epoch before that it gives up
   */
  private record BegunEpoch(long epoch, long lost) {}

  private BegunEpoch begin(long skuId, InFlightProof proof) {
    refuseInFallback();
    Product product = lockStopped(skuId, SalePhase.REDIS);
    RedisSaleState seen = RedisSaleState.readRules(redis, skuId);
    boolean unknown = inFlight.isUnknownOf(product, seen);
    if (unknown && !proof.covers(product)) {
      throw InFlightCheck.notProven();
    }
    long lost = inFlight.of(product, seen, proof).refuse().lost();
    long seq = unknown || lost > 0 ? seqAbove(product, seen) : InFlightCheck.seq(product);
    return new BegunEpoch(
        product
            .preheat(settings.maxPerOrder(), settings.retention(), seq, seen.highestEpoch())
            .epoch(),
        lost);
  }

  /** Continues with the number of orders stored, which is the sequence of a strong sale. */
  private ProductRow beginInMySql(long skuId, SalePhase read) {
    Product product = lockStopped(skuId, read);
    product.split(settings.maxPerOrder()).forEach(products::save);
    return product
        .preheat(settings.maxPerOrder(), settings.retention(), product.settled(), 0)
        .row();
  }

  /**
   * Locks the row of a sale that is not running.
   *
   * @param read its phase before; an operator may have edited a product that was never preheated
   */
  private Product lockStopped(long skuId, SalePhase read) {
    Product product = products.lock(skuId).orElseThrow(Product::unknown).refuseArchived();
    refuseRunning(product);
    refuseInFallback(product);
    if (product.phase() != read) {
      throw SaleLoading.overtaken();
    }
    if (product.phase() != SalePhase.STRONG) {
      refuseForgotten(product.row().closesAt());
    }
    return product;
  }

  private static void refuseRunning(Product product) {
    if (product.state().isRunning()) {
      throw SaleLoading.running(product.state().name());
    }
  }

  /** Redis would delete the rules of such a sale while it is loaded. */
  private void refuseForgotten(Instant closesAt) {
    if (SaleExpiry.of(closesAt, settings.retention()).rulesMs() <= System.currentTimeMillis()) {
      throw ProblemException.of(
          ProblemCode.REFUSED,
          "Redis would forget the sale, which closed at %s; set a later closesAt first."
              .formatted(closesAt));
    }
  }

  /**
   * The sequence number to continue from when Redis has lost its number, or MySQL its orders: above
   * any that Redis can have used, as in a rebuild. Each order that was admitted and not stored held
   * at least one unit, or has ended, and Redis may still have its number. So the loading replaces
   * the counters in Redis, also when an earlier preheat has ended here.
   */
  private static long seqAbove(Product product, RedisSaleState seen) {
    long stored = InFlightCheck.seq(product);
    long known = seen.isTooFarAhead(stored) ? 0 : seen.seq();
    return Math.max(stored, known) + Math.max(1, product.initialStock());
  }
}
