package io.seckill.consumer.sales;

import static java.util.stream.Collectors.toMap;

import io.seckill.common.sale.PendingStop;
import io.seckill.common.sale.SaleState;
import io.seckill.common.sale.SaleStates;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.loading.RedisSafety;
import io.seckill.consumer.products.Product;
import io.seckill.consumer.products.Products;
import io.seckill.consumer.products.RedisSaleState;
import io.seckill.consumer.runtime.RedisCallGuard;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Opens, resumes, pauses and closes sales. An opening goes to MySQL first, then to Redis, which
 * starts to admit; it needs both stores, except for a strong sale, and a repeat completes it. A SKU
 * and its shards have one state in MySQL, which one transaction changes. A shard whose Redis does
 * not answer keeps the others from nothing: {@link PendingStops} opens it when Redis answers.
 */
@Component
public record SaleTransitions(
    Products products,
    TransactionOperations transactions,
    PendingStops stops,
    SaleStates states,
    UnifiedJedis redis,
    RedisSafety safety,
    RedisCallGuard guard) {

  private static final Logger log = LoggerFactory.getLogger(SaleTransitions.class);

  /**
   * Opens the sale in both stores, a strong one in MySQL alone. One that is open already counts as
   * success.
   *
   * @param from the state the sale must be in: PREHEATED to open it, PAUSED to resume it
   * @throws ProblemException 404 UNKNOWN_SKU; 409 ARCHIVED, ILLEGAL_TRANSITION with the state that
   *     prevents it, NOT_PREHEATED when Redis does not hold the sale, REDIS_BEHIND when it has lost
   *     orders, both for a resume only if no shard is whole; UNSAFE_REDIS when it may lose them and
   *     the sale is not only resumed
   */
  ProductRow open(long skuId, SaleState from) {
    Product product = find(skuId).refuseArchived();
    if (product.state() != from && product.state() != SaleState.OPEN) {
      throw illegal(product.state());
    }
    List<Product> ofRedis = ofRedis(product);
    if (from == SaleState.PREHEATED && !ofRedis.isEmpty()) {
      safety.refuseUnsafe(); // a resumed sale already has its orders in Redis
    }
    List<ProblemException> refusals = new ArrayList<>();
    List<Product> whole =
        ofRedis.stream().filter(sold -> isWhole(sold, product.state(), refusals)).toList();
    Map<Long, Long> versions = carryStops(whole);
    if (versions.isEmpty() && !ofRedis.isEmpty()) {
      throw refusals.isEmpty() ? new JedisException("no shard answers") : refusals.get(0);
    }
    List<Long> silent =
        ofRedis.stream().map(Product::skuId).filter(id -> !versions.containsKey(id)).toList();
    return Products.whole(
        move(skuId, SaleState.OPEN, versions, sku -> true).stream()
            .map( // a fallback may have begun or ended
                row -> row.redisDecides() && !silent.contains(row.skuId()) ? inRedis(row) : row)
            .toList());
  }

  /** The products that are bought, if Redis decides them. */
  private List<Product> ofRedis(Product product) {
    return product.soldIds().stream()
        .map(this::find)
        .filter(sold -> sold.phase().redisDecides())
        .toList();
  }

  /**
   * Calls Redis for a product.
   *
   * @return false when the product is a shard, and Redis does not answer
   * @throws JedisException when Redis does not answer for another product
   */
  private boolean reaches(long id, Runnable call) {
    if (Shards.isShard(id)) {
      return guard.run(guard.partOf(id), call);
    }
    call.run();
    return true;
  }

  /**
   * Applies the stops that are pending in Redis: they were requested before this opening. One of a
   * shard that does not answer is applied when it does.
   *
   * @return numbers of the last state changes that Redis has, by id, without the shards that do not
   *     answer
   */
  private Map<Long, Long> carryStops(List<Product> ofRedis) {
    Map<Long, Long> versions = new HashMap<>();
    for (Product sold : ofRedis) {
      long id = sold.skuId();
      reaches(
          id,
          () -> {
            stops.carry(id);
            versions.put(id, states.version(id));
          });
    }
    return versions;
  }

  private ProductRow inRedis(ProductRow opened) {
    ProductRow[] row = {opened};
    reaches(opened.skuId(), () -> row[0] = follow(opened));
    return row[0];
  }

  private ProductRow follow(ProductRow opened) {
    return switch (states.follow(
        opened.skuId(), opened.state().name(), opened.epoch(), opened.stateVersion(), null)) {
      case DONE -> opened;
      case NOT_LOADED -> {
        if (!Shards.isShard(opened.skuId())) {
          throw notPreheated("reconcile it first.");
        }
        yield opened; // a shard that was lost meanwhile
      }
      case STOPPED -> throw illegal(SaleState.PAUSED);
      case NEWER -> openedSince(opened);
    };
  }

  /**
   * Whether Redis answers, and has the product's data. A shard that was lost since its first
   * opening keeps no other from a resume: a rebuild ends with the state of MySQL.
   */
  private boolean isWhole(Product sold, SaleState before, List<ProblemException> refusals) {
    try {
      return reaches(sold.skuId(), () -> refuseOtherData(sold));
    } catch (ProblemException e) {
      if (!before.isRunning() || !Shards.isShard(sold.skuId())) {
        throw e;
      }
      log.warn("sku {}: not opened with the other shards: {}", sold.skuId(), e.getMessage());
      refusals.add(e);
      return false;
    }
  }

  /** {@code product} was read from MySQL before this call. */
  private void refuseOtherData(Product product) {
    RedisSaleState sale = RedisSaleState.readRules(redis, product.skuId());
    if (sale.isLoading() && !product.state().isRunning()) {
      throw notPreheated("it is being loaded. Preheat it again only if that has failed.");
    } else if (sale.isLoading() || sale.epoch() != product.epoch()) {
      throw notPreheated(product.state().isRunning() ? "reconcile it first." : "preheat it first.");
    }
    if (sale.isBehind(product.epoch(), product.lastSeq(), product.changeSeq())) {
      throw ProblemException.of(
          ProblemCode.REDIS_BEHIND,
          "Redis has lost orders or stock changes of this sale; reconcile it first.");
    }
  }

  /** Redis has the state of a later change: that must be an opening, too. */
  private ProductRow openedSince(ProductRow opened) {
    ProductRow now = find(opened.skuId()).row();
    if (now.state() == SaleState.OPEN && now.stateVersion() > opened.stateVersion()) {
      return now;
    }
    throw illegal(now.state());
  }

  private static ProblemException notPreheated(String remedy) {
    return ProblemException.of(
        ProblemCode.NOT_PREHEATED, "Redis does not hold this sale; " + remedy);
  }

  private static ProblemException illegal(SaleState state) {
    return ProblemException.ofSale(
        ProblemCode.ILLEGAL_TRANSITION,
        "The sale is " + state + "; this call does not open it.",
        state.name());
  }

  /**
   * Opens the sale in MySQL, for a gateway that opens it in Redis itself.
   *
   * @throws ProblemException 404 UNKNOWN_SKU, 409 ILLEGAL_TRANSITION, NOT_PREHEATED
   * @throws JedisException when Redis cannot report pending stops
   */
  ProductRow openInMySql(long skuId) {
    return Products.whole(
        move(skuId, SaleState.OPEN, carryStops(ofRedis(find(skuId))), sku -> true));
  }

  /**
   * Stops the sale, whether or not Redis is available. Succeeds when the sale is in that state
   * already.
   *
   * @param target PAUSED or CLOSED
   * @throws ProblemException 404 UNKNOWN_SKU, 409 ILLEGAL_TRANSITION
   */
  public ProductRow stop(long skuId, SaleState target) {
    return stop(skuId, target, sku -> true);
  }

  /** Closes as {@link #stop} does; 409 EDIT_CONFLICT when the closing time is another one now. */
  public void close(long skuId, Instant closesAt) {
    var unused = stop(skuId, SaleState.CLOSED, sku -> sku.row().closesAt().equals(closesAt));
  }

  private ProductRow stop(long skuId, SaleState target, Predicate<Product> applies) {
    Map<Long, Noted> noted =
        ofRedis(find(skuId)).stream()
            .collect(toMap(Product::skuId, sold -> noted(sold.skuId(), target)));
    List<ProductRow> rows = move(skuId, target, Map.of(), applies);
    for (ProductRow row : rows) {
      Noted seen = noted.getOrDefault(row.skuId(), new Noted(null, true));
      if (row.redisDecides() && seen.redisAnswers()) { // a fallback may have ended
        stops.follow(row, seen.stop());
      }
    }
    return Products.whole(rows);
  }

  /**
   * {@code stop} is pending in Redis and included in this one: usually the gateway's half of it.
   */
  private record Noted(@Nullable PendingStop stop, boolean redisAnswers) {}

  private Product find(long skuId) {
    return products.findBySkuId(skuId).orElseThrow(Product::unknown);
  }

  private Noted noted(long skuId, SaleState target) {
    Noted[] noted = {new Noted(null, false)};
    try {
      reaches(skuId, () -> noted[0] = new Noted(stops.includedIn(skuId, target), true));
    } catch (JedisException e) {
      log.warn("sku {}: stopping in MySQL; Redis is updated later: {}", skuId, e.toString());
    }
    return noted[0];
  }

  /**
   * Changes the state of the SKU and of its shards, or of none.
   *
   * @param known numbers of the last state changes that Redis has, by id
   * @return the SKU's own row first
   */
  private List<ProductRow> move(
      long skuId, SaleState target, Map<Long, Long> known, Predicate<Product> applies) {
    return transactions.execute(
        tx -> {
          List<Product> rows = products.lockWithShards(skuId);
          if (rows.isEmpty()) {
            throw Product.unknown();
          } else if (!applies.test(rows.get(0))) {
            throw ProblemException.of(ProblemCode.EDIT_CONFLICT);
          }
          return rows.stream()
              .map(row -> row.moveOrRefuse(target, known.getOrDefault(row.skuId(), 0L)))
              .toList();
        });
  }
}
