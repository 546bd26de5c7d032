package io.seckill.bench.baseline;

import io.seckill.bench.lab.Users;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** Several clients at once; each deducts from a user at random when the last one is answered. */
public final class DeductingClients {

  private final Users users;
  private final AtomicLong nextCharge;
  private final LongAdder accepted = new LongAdder();
  private final Histogram micros = new ConcurrentHistogram(TimeUnit.MINUTES.toMicros(2), 3);

  private DeductingClients(Users users, AtomicLong nextCharge) {
    this.users = users;
    this.nextCharge = nextCharge;
  }

  /**
   * What the clients were answered.
   *
   * @param answers of any kind
   */
  public record Result(long answers, long accepted, double acceptedPerSecond, Histogram micros) {

    public double percentileMs(double percentile) {
      return micros.getValueAtPercentile(percentile) / 1_000.0;
    }
  }

  /**
   * Runs until the time is over.
   *
   * @param nextCharge makes the charges' ids
   */
  public static Result run(
      int clients, Duration run, Deductor.Opener deductors, Users users, AtomicLong nextCharge) {
    DeductingClients all = new DeductingClients(users, nextCharge);
    ManyThreads.Result done =
        ManyThreads.run(clients, run, thread -> all.new Client(deductors.open()));
    long accepted = all.accepted.sum();
    double perSecond = done.perSecond() * accepted / Math.max(1, done.count());
    return new Result(done.count(), accepted, perSecond, all.micros);
  }

  /** One thread. */
  private final class Client implements ManyThreads.Work {

    private final Deductor deductor;

    Client(Deductor deductor) {
      this.deductor = deductor;
    }

    @Override
    public boolean once() throws Exception {
      long user = users.first() + ThreadLocalRandom.current().nextLong(users.count());
      Deduction deduction = new Deduction(user, nextCharge.getAndIncrement());
      long start = System.nanoTime();
      boolean isAccepted = deductor.deduct(deduction);
      micros.recordValue(TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - start));
      if (isAccepted) {
        accepted.increment();
      }
      return true;
    }

    @Override
    public void close() throws Exception {
      deductor.close();
    }
  }
}
