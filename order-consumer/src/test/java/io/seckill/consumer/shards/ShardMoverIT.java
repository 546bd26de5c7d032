package io.seckill.consumer.shards;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import com.zaxxer.hikari.HikariDataSource;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.consumer.products.ExpectedSale;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.runtime.ConnectionPools;
import io.seckill.consumer.runtime.IdlePools;
import io.seckill.consumer.sales.ShardProofs;
import io.seckill.testing.Bounded;
import io.seckill.testing.LoggedLines;
import io.seckill.testing.TestServers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;

@NullUnmarked // nothing is read or moved here
@ExtendWith(TestServers.class)
class ShardMoverIT {

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final ConnectionPools pools = IdlePools.to(TestServers.mysql().newDatabase(), meters);

  @AfterEach
  void close() {
    ((HikariDataSource) pools.reconciliation()).close();
  }

  /**
   * Two SKUs are on sale for a round; MySQL answers about the first alone, so that the other one's
   * age counts from when it was found.
   */
  @Test
  void showsHowLongASkuHasNotBeenLookedAt() {
    Looks looks = new Looks();
    ShardMover mover = new ShardMover(pools, looks, null, null, null, meters);

    mover.round();

    assertThat(looks.age)
        .isBetween(
            (looks.agedNanos - looks.lookNanos) / 1e9,
            (looks.agedEndNanos - looks.foundNanos) / 1e9);
    assertThat(age()).as("nothing is on sale").isZero();
    mover.stop();
  }

  @Test
  void aSaleThatWasNeverLookedAtHasAnAgeToo() {
    List<Double> ages = new ArrayList<>();
    ShardTable away =
        new ShardTable(null) {
          @Override
          List<ProductSnapshot> onSale() {
            ages.add(age());
            return ages.size() == 1 ? List.of(SkuMoverTest.sku(1)) : List.of();
          }

          @Override
          Pool pool(ProductSnapshot sku) {
            throw new QueryTimeoutException("MySQL does not answer");
          }
        };

    run(new ShardMover(pools, away, null, null, null, meters));

    assertThat(ages).hasSize(2);
    assertThat(ages.get(1)).isPositive();
  }

  @Test
  void looksThatFailAlikeAreOneLineInTheLog() {
    AtomicInteger failed = new AtomicInteger();
    ShardTable away =
        new ShardTable(null) {
          @Override
          List<ProductSnapshot> onSale() {
            return failed.get() < 2 ? List.of(SkuMoverTest.sku(1), SkuMoverTest.sku(2)) : List.of();
          }

          @Override
          Pool pool(ProductSnapshot sku) {
            failed.incrementAndGet();
            throw new QueryTimeoutException("MySQL does not answer");
          }
        };
    LoggedLines lines = LoggedLines.ofThisThread(ShardMover.class);

    run(new ShardMover(pools, away, null, null, null, meters));

    lines.close();
    assertThat(failed).hasValueGreaterThan(1);
    assertThat(lines.events()).filteredOn(line -> line.getLevel() == Level.WARN).hasSize(1);
  }

  /** Each SKU waited for a connection. */
  @Test
  void whileMySqlIsAwayARoundAsksItOnce() {
    AtomicInteger asked = new AtomicInteger();
    ShardTable away =
        new ShardTable(null) {
          @Override
          List<ProductSnapshot> onSale() {
            return asked.get() == 0 ? List.of(SkuMoverTest.sku(1), SkuMoverTest.sku(2)) : List.of();
          }

          @Override
          Pool pool(ProductSnapshot sku) {
            asked.incrementAndGet();
            throw new CannotGetJdbcConnectionException("for the test");
          }
        };
    ShardMover mover = new ShardMover(pools, away, null, null, null, meters);

    assertThatThrownBy(mover::round).isInstanceOf(CannotGetJdbcConnectionException.class);

    mover.stop();
    assertThat(asked).hasValue(1);
  }

  /** MySQL answers one look at a sold-out SKU, and lets the next one wait. */
  @Test
  void aNoIsRenewedWhileALookWaitsForMySql() {
    CountDownLatch waits = new CountDownLatch(1);
    CountDownLatch released = new CountDownLatch(1);
    AtomicInteger renewals = new AtomicInteger();
    ShardMover mover =
        new ShardMover(
            pools, hanging(waits, released), soldOut(), null, counting(renewals), meters);
    CompletableFuture<Void> looks = CompletableFuture.runAsync(() -> run(mover));
    Bounded.await(waits);

    eventually()
        .until(
            () -> {
              mover.renewProofs();
              return renewals.get() >= 2 * SkuMoverTest.IDS.size();
            });
    assertThat(looks).isNotDone();

    released.countDown();
    Bounded.get(looks);
  }

  /** A process that leads goes on with what it has found on sale. */
  @Test
  void aNoIsRenewedWhileMySqlDoesNotAnswer() {
    CountDownLatch asked = new CountDownLatch(3); // two get no answer
    AtomicBoolean isBack = new AtomicBoolean();
    AtomicInteger renewals = new AtomicInteger();
    ShardMover mover =
        new ShardMover(
            pools, awayAfterOne(asked, isBack), soldOut(), null, counting(renewals), meters);
    CompletableFuture<Void> looks = CompletableFuture.runAsync(() -> run(mover));
    try {
      Bounded.await(asked);
      renewals.set(0);

      eventually()
          .until(
              () -> {
                mover.renewProofs();
                return renewals.get() >= SkuMoverTest.IDS.size();
              });
      assertThat(looks).isNotDone();
    } finally {
      isBack.set(true);
    }
    Bounded.get(looks);
  }

  private static ShardTable awayAfterOne(CountDownLatch asked, AtomicBoolean isBack) {
    return new ShardTable(null) {
      @Override
      List<ProductSnapshot> onSale() {
        asked.countDown();
        if (isBack.get()) {
          return List.of();
        }
        refuse();
        return List.of(SkuMoverTest.sku(SkuMoverTest.SKU));
      }

      @Override
      Pool pool(ProductSnapshot sku) {
        refuse();
        return new Pool(0, 7, 0, 0, 0, 2);
      }

      private void refuse() {
        if (asked.getCount() < 2) {
          throw new QueryTimeoutException("MySQL does not answer");
        }
      }

      @Override
      List<ExpectedSale> expected(ProductSnapshot sku) {
        return List.of();
      }
    };
  }

  private static ShardTable hanging(CountDownLatch waits, CountDownLatch released) {
    AtomicInteger pools = new AtomicInteger();
    AtomicInteger rounds = new AtomicInteger();
    return new ShardTable(null) {
      @Override
      List<ProductSnapshot> onSale() {
        return rounds.getAndIncrement() == 0
            ? List.of(SkuMoverTest.sku(SkuMoverTest.SKU))
            : List.of();
      }

      @Override
      Pool pool(ProductSnapshot sku) {
        if (pools.incrementAndGet() > 2) { // before and after the first look
          waits.countDown();
          Bounded.await(released);
        }
        return new Pool(0, 7, 0, 0, 0, 2);
      }

      @Override
      List<ExpectedSale> expected(ProductSnapshot sku) {
        return List.of();
      }
    };
  }

  private static ShardReader soldOut() {
    return new ShardReader(null, null) {
      @Override
      List<ShardState> read(List<ExpectedSale> shards) {
        return SkuMoverTest.states(SkuMoverTest.SOLD_OUT);
      }
    };
  }

  private static ShardProofs counting(AtomicInteger renewals) {
    return new ShardProofs(null, null) {
      @Override
      public void write(long shard, long epoch, long units, long atMs) {}

      @Override
      public boolean renew(long shard, long epoch, long toldMs, long atMs) {
        renewals.incrementAndGet();
        return true;
      }

      @Override
      public void takeBack(List<Long> shards) {}
    };
  }

  private static void run(ShardMover mover) {
    mover.round();
    mover.stop();
  }

  private double age() {
    return meters.get("seckill.consumer.shard.looks.age").gauge().value();
  }

  private final class Looks extends ShardTable {
    private int rounds;
    private long foundNanos;
    private long lookNanos;
    private long agedNanos;
    private long agedEndNanos;
    private double age;

    Looks() {
      super(null);
    }

    @Override
    List<ProductSnapshot> onSale() {
      if (rounds++ == 0) {
        foundNanos = System.nanoTime();
        return List.of(SkuMoverTest.sku(1), SkuMoverTest.sku(2));
      }
      agedNanos = System.nanoTime();
      age = age();
      agedEndNanos = System.nanoTime();
      return List.of();
    }

    @Override
    Pool pool(ProductSnapshot sku) {
      if (sku.skuId() == 2) {
        throw new QueryTimeoutException("MySQL does not answer");
      }
      lookNanos = System.nanoTime();
      return new Pool(0, 7, 0, 0, 0, 0); // as in a fallback
    }
  }
}
