package io.seckill.common.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Clock;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SnowflakeIdsTest {

  private long nowMs = OrderId.EPOCH_MS + 10_000;
  private final Clock clock =
      ((InstantSource) () -> Instant.ofEpochMilli(nowMs)).withZone(ZoneOffset.UTC);
  private final SnowflakeIds ids = new SnowflakeIds(7, 0, clock);

  @Test
  void marksEachIdWithItsPartitionWorkerAndTime() {
    OrderId id = ids.next(9);

    assertThat(id.partition()).isEqualTo(9);
    assertThat(id.worker()).isEqualTo(7);
    assertThat(id.timeMs()).isEqualTo(nowMs);
  }

  /** Row 32 of docs/proof.md: the service's clock jumps by an hour, both ways. */
  @Test
  void neverRepeatsAnIdWhenTheClockJumps() {
    Set<OrderId> seen = new HashSet<>();
    long start = nowMs;
    for (long jump : new long[] {0, 3_600_000, 0, -3_600_000, 0}) {
      nowMs = start + jump;
      IntStream.range(0, 3_000).forEach(i -> assertThat(seen.add(ids.next(i % 16))).isTrue());
    }
  }

  @Test
  void borrowsFromTheFutureWhenAMillisecondIsUsedUp() {
    IntStream.range(0, 1024).forEach(i -> ids.next(0));

    assertThat(ids.next(0).timeMs()).isEqualTo(nowMs + 1);
  }

  @Test
  void usesNoTimeAfterTheLatest() {
    long right = nowMs;
    nowMs = right + 1;
    assertThat(ids.next(0, right)).isNull();
    assertThat(ids.lastTimeMs()).isZero();

    nowMs = right;
    IntStream.range(0, 1024).forEach(i -> assertThat(ids.next(0, right)).isNotNull());
    assertThat(ids.next(0, right)).as("beyond the last number").isNull();
    assertThat(ids.lastTimeMs()).isEqualTo(right);
    assertThat(ids.next(0, right + 1)).isNotNull();
  }

  @Test
  void startsAboveItsPredecessorsLastTime() {
    long last = nowMs + 5_000;

    assertThat(new SnowflakeIds(7, last, clock).next(0).timeMs()).isEqualTo(last + 1);
  }

  @Test
  void neverRepeatsAnIdAcrossThreads() throws Exception {
    Set<OrderId> seen = ConcurrentHashMap.newKeySet();
    CyclicBarrier together = new CyclicBarrier(4);
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      var runs =
          IntStream.range(0, 4)
              .<Future<?>>mapToObj(
                  t ->
                      threads.submit(
                          () -> {
                            together.await(1, TimeUnit.MINUTES);
                            for (int i = 0; i < 20_000; i++) {
                              seen.add(ids.next(t));
                            }
                            return null;
                          }))
              .toList();
      for (Future<?> run : runs) {
        run.get(1, TimeUnit.MINUTES);
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(seen).hasSize(80_000);
  }

  @Test
  void refusesAWorkerOutOfBounds() {
    assertThatThrownBy(() -> new SnowflakeIds(256, 0, clock))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new SnowflakeIds(-1, 0, clock))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
