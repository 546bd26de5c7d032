package io.seckill.bench.baseline;

import io.seckill.common.order.OrderMessage;
import java.time.Duration;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** Several shoppers at once; each buys again when the last purchase is answered. */
public final class Shoppers {

  private final Seller.Opener sellers;
  private final Iterator<OrderMessage> purchases;
  private final LongAdder accepted = new LongAdder();
  private final LongAdder busy = new LongAdder();
  private final Histogram micros = new ConcurrentHistogram(TimeUnit.MINUTES.toMicros(2), 3);

  private Shoppers(Seller.Opener sellers, Iterator<OrderMessage> purchases) {
    this.sellers = sellers;
    this.purchases = purchases;
  }

  /**
   * What the shoppers were answered.
   *
   * @param answers of any kind
   * @param micros from purchase to any answer
   */
  public record Result(
      long answers, long accepted, long busy, double acceptedPerSecond, Histogram micros) {

    public double percentileMs(double percentile) {
      return micros.getValueAtPercentile(percentile) / 1_000.0;
    }
  }

  /** Runs until the time is over or every purchase is answered. */
  public static Result buy(
      int shoppers, Duration duration, Seller.Opener sellers, Iterator<OrderMessage> purchases) {
    Shoppers all = new Shoppers(sellers, purchases);
    ManyThreads.Result done = ManyThreads.run(shoppers, duration, thread -> all.new Shopper());
    long accepted = all.accepted.sum();
    return new Result(
        done.count(),
        accepted,
        all.busy.sum(),
        done.perSecond() * accepted / Math.max(1, done.count()),
        all.micros);
  }

  /** One thread. */
  private final class Shopper implements ManyThreads.Work {

    private final Seller seller;

    Shopper() throws Exception {
      this.seller = sellers.open();
    }

    @Override
    public boolean once() throws Exception {
      OrderMessage purchase;
      synchronized (purchases) {
        if (!purchases.hasNext()) {
          return false;
        }
        purchase = purchases.next();
      }
      long start = System.nanoTime();
      Verdict verdict = seller.sell(purchase);
      micros.recordValue(TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - start));
      if (verdict == Verdict.ACCEPTED) {
        accepted.increment();
      } else if (verdict == Verdict.BUSY) {
        busy.increment();
      }
      return true;
    }

    @Override
    public void close() throws Exception {
      seller.close();
    }
  }
}
