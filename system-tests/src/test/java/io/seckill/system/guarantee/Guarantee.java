package io.seckill.system.guarantee;

import java.util.List;

/** One promise of the pipeline; judges a run that has come to rest. */
@FunctionalInterface
public interface Guarantee {

  /**
   * @throws AssertionError naming what was broken, and by which orders or users
   */
  void judge(SaleAtRest sale, Purchases purchases);

  /** All promises that hold in every run, whatever crashed. */
  static List<Guarantee> all() {
    return all(Explained.NOTHING);
  }

  /** As {@link #all()}, for a run whose fault explains some of what it leaves behind. */
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
}
