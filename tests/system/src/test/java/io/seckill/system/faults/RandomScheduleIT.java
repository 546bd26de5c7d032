package io.seckill.system.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.system.guarantee.Explained;
import io.seckill.testing.LoopDisk;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Row 34: random faults. {@code -Dseed} selects the schedule, {@code -Dseckill.chaos.seconds} its
 * length, {@code -Dseckill.chaos.schedules} the number of consecutive schedules, with consecutive
 * seeds. A schedule runs in rounds, each healed and judged, so that judging an hour takes no more
 * resources at once than judging a minute.
 */
@ExtendWith({TestServers.class, FaultLabExtension.class})
class RandomScheduleIT {

  private static final long FIRST_SEED = Long.getLong("seed", 20_261_121L);
  private static final int SCHEDULES = Integer.getInteger("seckill.chaos.schedules", 1);
  private static final Duration LENGTH =
      Duration.ofSeconds(Integer.getInteger("seckill.chaos.seconds", 10));
  private static final Duration ROUND = Duration.ofSeconds(Math.min(25, LENGTH.toSeconds()));
  private static final int PURCHASES_PER_SECOND = 100;

  /** Several times what an hour of purchases writes; the file is sparse. */
  private static final int DISK_MB = 4_096;

  private final FaultLab lab;

  RandomScheduleIT(FaultLab lab) {
    this.lab = lab;
  }

  void begin(FaultRun run) {
    run.begin(0);
  }

  void judge(FaultRun run) {
    run.judge(Explained.REDIS_AWAY);
    assertThat(run.moves(0)).as("units moved between shards").isPositive();
  }

  static LongStream seeds() {
    return LongStream.range(FIRST_SEED, FIRST_SEED + SCHEDULES);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  @Timeout(value = 2, unit = TimeUnit.HOURS)
  @DisplayName("34: all of it, random")
  void everythingAtRandom(long seed) throws InterruptedException {
    RandomSchedule.say("seed " + seed + ", " + LENGTH.toSeconds() + " s");
    Random random = new Random(seed);
    RedisServer redis = lab.servers().redis();
    Optional<String> noDisk = LoopDisk.missing(redis);
    noDisk.ifPresent(why -> RandomSchedule.say("the disk of Redis is never full: " + why));
    try (@Nullable LoopDisk disk = noDisk.isPresent() ? null : LoopDisk.under(redis, DISK_MB)) {
      lab.heal();
      lab.awaitHealed();
      long end = System.nanoTime() + LENGTH.toNanos();
      for (int round = 1; System.nanoTime() < end; round++) {
        round("34 random schedule, seed " + seed + ", round " + round, random, disk);
      }
    }
  }

  private void round(String name, Random random, @Nullable LoopDisk disk)
      throws InterruptedException {
    RandomSchedule.say(name);
    int purchases = (int) ROUND.toSeconds() * PURCHASES_PER_SECOND;
    try (FaultRun run = lab.runWithShards(name, purchases, ROUND)) {
      List<Fault> choice = Fault.all(lab, run.sale(3), disk);
      RandomSchedule schedule = RandomSchedule.plan(random, choice, ROUND);
      schedule.events().forEach(event -> RandomSchedule.say("planned " + event));
      begin(run);
      schedule
          .run(
              event -> {
                RandomSchedule.say("seen    " + event);
                run.fault(event.fault().target() + ": " + event.fault().name());
              })
          .forEach(event -> RandomSchedule.say("without effect " + event));
      judge(run);
    }
    RandomSchedule.say(List.of(name, "held") + " " + lab.report().sum());
  }
}
