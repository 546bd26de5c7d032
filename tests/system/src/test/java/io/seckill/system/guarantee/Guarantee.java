package io.seckill.system.guarantee;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.seckill.common.sale.Shards;
import java.util.List;

/**
 * A guarantee of the pipeline, checked for a run that has come to rest. A {@link RunHistory} names
 * it by its class.
 */
@FunctionalInterface
@JsonTypeInfo(use = JsonTypeInfo.Id.CLASS)
public interface Guarantee {

  /**
   * @throws AssertionError naming what was broken, and by which orders or users
   */
  void judge(SaleAtRest sale, Purchases purchases);

  /**
   * Whether it compares what the stores have, not what shoppers were answered: then it holds for
   * each shard of a SKU, too. Every guarantee holds for a SKU with all its shards.
   */
  default boolean holdsForAShard() {
    return false;
  }

  /** Adds what was broken, after the guarantee's name, to the complaints. */
  default void judge(SaleAtRest sale, Purchases purchases, List<String> complaints) {
    if (Shards.isShard(sale.skuId()) && !holdsForAShard()) {
      return;
    }
    try {
      judge(sale, purchases);
    } catch (AssertionError e) {
      complaints.add(getClass().getSimpleName() + ": " + e.getMessage());
    }
  }

  /** All guarantees that hold in every run, after any crash. */
  static List<Guarantee> all() {
    return all(Explained.NOTHING);
  }

  /** As {@link #all()}, for a run whose fault explains some deviations. */
  static List<Guarantee> all(Explained explained) {
    return List.of(
        new NeverOversold(),
        new NothingLost(),
        new NothingInvented(),
        new StoredOnce(),
        new AdmittedOnce(explained),
        new QuotaHeld(),
        new StoresAgree(),
        new CompensatedOnce(),
        new RequestsKeepTheirOrder(),
        new RefusalsAreTrue(),
        new OutcomesStay(explained),
        new CountersAgree(),
        new NothingRepaired(explained));
  }

  /**
   * All guarantees that hold when MySQL has decided for a while. Redis has been rebuilt, so what it
   * had compensated and counted is gone. An order that it admitted without an answer to its shopper
   * may be rejected when it comes out, or be a second one of a purchase that MySQL has confirmed.
   */
  static List<Guarantee> afterFallback() {
    return List.of(
        new NeverOversold(),
        new NothingLost(),
        new NothingInvented(),
        new StoredOnce(),
        new QuotaHeld(),
        new StoresAgree(),
        new RequestsKeepTheirOrder(),
        new PromisesKept(),
        new OutcomesStay(Explained.NOTHING.withRejections("SOLD_OUT", "QUOTA_EXCEEDED")));
  }

  /** All guarantees of a strong sale, after any crash: no fault explains a deviation. */
  static List<Guarantee> strong() {
    return List.of(
        new NeverOversold(),
        new NothingLost(),
        new NothingInvented(),
        new StoredOnce(),
        new QuotaHeld(),
        new RequestsKeepTheirOrder(),
        new RefusalsAreTrue(),
        new RefusedHasNoOrder(),
        new OutcomesStay(Explained.NOTHING),
        new CountersAgree(),
        new OnlyInMySql());
  }
}
