package io.seckill.consumer.products;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.SaleExpiry;
import io.seckill.common.sale.SalePhase;
import io.seckill.common.sale.Shards;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * A row of {@code products}.
 *
 * @param state NEW, PREHEATED, OPEN, PAUSED or CLOSED
 * @param stateVersion number of changes of the state so far
 * @param limitPerUser units; ignored for UNLIMITED
 * @param phase names the store that decides its purchases
 * @param initialStock units ever put on sale, which decides how many buckets there are
 * @param lastSeq highest admission sequence stored, or the value from which a rebuild continued it
 * @param changeSeq number of the last change of its stock in this epoch that Redis has had, or less
 * @param ended whether the closing time has passed, by MySQL's clock
 * @param kept whether Redis keeps its rules, by MySQL's clock
 * @param archived whether the sale is over for good: its orders are in the history, or on their way
 *     there
 * @param maxPerOrder most units of one order, as of the last preheat
 * @param retention how long Redis keeps the sale after its closing, as of the last preheat
 * @param shards 1 for a product that is sold itself, as a shard is
 */
public record ProductSnapshot(
    long skuId,
    String state,
    long stateVersion,
    PurchasePolicy policy,
    int limitPerUser,
    SalePhase phase,
    Instant opensAt,
    Instant closesAt,
    long epoch,
    long stock,
    long initialStock,
    long lastSeq,
    long changeSeq,
    long settled,
    boolean ended,
    boolean kept,
    boolean archived,
    int maxPerOrder,
    Duration retention,
    int shards) {

  /**
   * Units of one bucket on average, so that its hash stays packed, which it does up to 128 fields
   * (facts.md 13). An order of one unit has three fields while it holds it, and with users at
   * random, 0.5 % of the buckets get more than 42 such orders.
   */
  private static final int UNITS_PER_BUCKET = 28;

  /**
   * Units that are added to a small sale after its preheat do not add buckets. Each has some 100
   * bytes of its own in Redis.
   */
  private static final int LEAST_BUCKETS = 256;

  /**
   * Whether Redis must have the sale. A closed sale is shown from MySQL, and so is a sale past its
   * closing time that was not closed: nothing is admitted then, and Redis lets its rules expire. A
   * sale in a fallback returns until they would: Redis answers repeats from its orders.
   */
  public boolean isWanted() {
    return isReturnable() ? kept : !ended && (state.equals("PREHEATED") || isRunning());
  }

  /** Whether MySQL decides a sale of Redis, or has until its loading. */
  public boolean isReturnable() {
    return phase == SalePhase.MYSQL || phase.isBeingLoaded();
  }

  public boolean isRunning() {
    return state.equals("OPEN") || state.equals("PAUSED");
  }

  public boolean isClosed() {
    return state.equals("CLOSED");
  }

  /** Whether the sale was not preheated, rebuilt or closed between the two. */
  public boolean isSameLoadingAs(ProductSnapshot other) {
    return epoch == other.epoch && other.isWanted();
  }

  /** Ids of the shards, in ascending order; none before the first preheat. */
  public List<Long> shardIds() {
    return state.equals("NEW") ? List.of() : Shards.ids(skuId, shards);
  }

  /** When the sale's keys in Redis expire. */
  public SaleExpiry expiry() {
    return SaleExpiry.of(closesAt, retention);
  }

  /** Buckets that stay packed when every unit ever put on sale becomes an order. */
  public int buckets() {
    return (int) Math.max(LEAST_BUCKETS, (units() + UNITS_PER_BUCKET - 1) / UNITS_PER_BUCKET);
  }

  /** Units ever put on sale. */
  public long units() {
    return Math.max(stock, initialStock);
  }
}
