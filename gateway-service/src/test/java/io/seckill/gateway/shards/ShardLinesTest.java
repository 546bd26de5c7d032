package io.seckill.gateway.shards;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.gateway.backends.RedisBreakers;
import io.seckill.gateway.shards.WaitingPurchase.Outcome;
import io.seckill.testing.Bounded;
import io.seckill.testing.CannedRedis;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Purchases that wait while no look at a shard is answered. */
class ShardLinesTest {

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final CannedRedis redis = new CannedRedis(command -> 0L);
  private final ShardLooks looks = new ShardLooks(redis, RedisBreakers.of(redis, meters));
  private final ShardLines lines = new ShardLines(looks, meters);
  private final List<String> ended = new CopyOnWriteArrayList<>();

  @AfterEach
  void close() {
    lines.destroy();
    redis.close();
  }

  @Test
  void showsHowManyWaitAndHowTheWaitsEnd() {
    looks.destroy(); // none is begun any more
    assertThat(waiting()).isZero();

    await(1, "first", 0);
    await(2, "of another shard", 0);
    await(2, "third", 0);
    assertThat(waiting()).isEqualTo(3);

    await(2, "has waited for 301 ms", 301);
    assertThat(ended).containsExactly("has waited for 301 ms: BUSY");
    assertThat(waiting()).isEqualTo(3);
    assertThat(waits(Outcome.BUSY)).isOne();

    lines.destroy();

    assertThat(ended)
        .containsExactlyInAnyOrder(
            "has waited for 301 ms: BUSY", "first: BUSY", "of another shard: BUSY", "third: BUSY");
    assertThat(waiting()).isZero();
    assertThat(waits(Outcome.BUSY)).isEqualTo(4);
    for (Outcome other : List.of(Outcome.SEND_AGAIN, Outcome.SOLD_OUT, Outcome.TOO_FEW_LEFT)) {
      assertThat(waits(other)).as(other.name()).isZero();
    }
    await(1, "comes too late", 0);
    assertThat(ended).contains("comes too late: BUSY");
  }

  @Test
  void keepsNoLineWhenNobodyWaits() {
    looks.destroy();
    for (int shard = 0; shard < 1_000; shard++) {
      await(shard, "has waited for 250 ms", 250);
    }
    await(1_000, "has waited for 301 ms", 301);

    eventually().until(lines::isIdle);

    assertThat(ended).hasSize(1_001).allMatch(one -> one.endsWith("BUSY"));
    assertThat(waiting()).isZero();
  }

  @Test
  void answersEveryPurchaseThatComesWhileItsLineIsRemoved() {
    looks.destroy();
    CompletableFuture<Void> purchases =
        CompletableFuture.runAsync(
            () ->
                IntStream.range(0, 2_000)
                    .forEach(
                        shard -> {
                          await(shard, "has waited for 301 ms", 301); // leaves an idle line
                          await(shard, "has waited for 270 ms", 270);
                        }));
    while (!purchases.isDone()) {
      lines.tick();
    }

    Bounded.get(purchases);
    eventually().until(() -> ended.size() == 4_000);
    eventually().until(lines::isIdle);
  }

  /** Those that have not waited are not overdue for an hour: a machine may be slow. */
  private void await(long shard, String name, long waitedMs) {
    long ahead = waitedMs > 0 ? -TimeUnit.MILLISECONDS.toNanos(waitedMs) : 3_600_000_000_000L;
    lines.await(
        new WaitingPurchase(
            shard,
            1,
            System.nanoTime() + ahead,
            (outcome, askedNanos) -> ended.add(name + ": " + outcome)));
  }

  private double waiting() {
    return meters.get("seckill.shard.waiting").gauge().value();
  }

  private double waits(Outcome outcome) {
    return meters
        .get("seckill.shard.waits")
        .tag("outcome", outcome.name().toLowerCase(Locale.ROOT))
        .counter()
        .count();
  }
}
