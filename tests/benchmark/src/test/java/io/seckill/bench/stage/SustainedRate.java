package io.seckill.bench.stage;

/** Searches the highest rate that the pipeline sustains in two trials. */
final class SustainedRate {

  private static final double FIRST = 6_000;
  private static final double LOWEST = 500;
  private static final double STEP = 1.5;
  private static final double STEP_BACK = 1.1;

  private final Trial trial;
  private final int refinements;

  /**
   * @param refinements how often the interval between the highest sustained and the lowest failed
   *     rate is halved
   */
  SustainedRate(Trial trial, int refinements) {
    this.trial = trial;
    this.refinements = refinements;
  }

  /** One trial of a rate. */
  @FunctionalInterface
  interface Trial {

    /** Returns whether the pipeline keeps up with this rate. */
    boolean keepsUp(double perSecond) throws Exception;
  }

  /** Returns orders per second; 0 when not even the lowest rate tried was sustained. */
  double search() throws Exception {
    double kept = 0;
    double missed = FIRST;
    while (trial.keepsUp(missed)) {
      kept = missed;
      missed *= STEP;
    }
    while (kept == 0 && missed > LOWEST) {
      double lower = missed / STEP;
      if (trial.keepsUp(lower)) {
        kept = lower;
      } else {
        missed = lower;
      }
    }
    for (int i = 0; kept > 0 && i < refinements; i++) {
      double middle = Math.sqrt(kept * missed);
      if (trial.keepsUp(middle)) {
        kept = middle;
      } else {
        missed = middle;
      }
    }
    return kept > 0 ? confirmed(kept) : 0;
  }

  /**
   * Repeats the trial, because one success may be chance.
   *
   * @param keptOnce sustained in the search
   * @return the highest rate not above it that is sustained twice, or 0
   */
  private double confirmed(double keptOnce) throws Exception {
    double rate = keptOnce;
    int trialsKept = 1;
    while (trialsKept < 2) {
      if (trial.keepsUp(rate)) {
        trialsKept++;
      } else if (rate > LOWEST) {
        rate /= STEP_BACK;
        trialsKept = 0;
      } else {
        return 0;
      }
    }
    return rate;
  }
}
