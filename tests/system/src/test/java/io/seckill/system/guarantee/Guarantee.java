package io.seckill.system.guarantee;

import java.util.List;

/** A guarantee of the pipeline, checked for a run that has come to rest. */
@FunctionalInterface
public interface Guarantee {

  /**
   * @throws AssertionError naming what was broken, and by which orders or users
   */
  void judge(SaleAtRest sale, Purchases purchases);

  /** All guarantees that hold in every run, whatever crashed. */
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

  /** All guarantees of a strong sale, whatever crashed: no fault explains a deviation. */
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
