package io.seckill.relay.recovery;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.OrderMessages;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.testing.CannedRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

class LaneLeaseRenewerTest {

  private static final int UNREADABLE = 3;

  /** The number of keys; renew.lua has one. */
  private static final String FORGET_KEYS = "2";

  private final List<LaneLease> leases =
      IntStream.range(0, Partition.COUNT)
          .mapToObj(p -> new LaneLease("relay", p, p, LeaseSettings.DEFAULT.duration()))
          .toList();

  @Test
  void renewsAllPartitionsOfOneServerInOneRoundTrip() {
    CannedRedis redis = new CannedRedis(LaneLeaseRenewerTest::reply);
    LaneLeaseRenewer renewer = renewer(redis, false);

    renewer.round();
    renewer.round();

    assertThat(redis.roundTrips()).isEqualTo(2);
    for (int p = 0; p < Partition.COUNT; p++) {
      assertThat(renewer.backlog(p)).isEqualTo(new PartitionBacklog(5, 0, 2));
    }
    assertThat(leases.get(7).deadLeases()).containsExactly("dead");
  }

  /** The slot of one moves to another node of a cluster. */
  @Test
  void forgetsEmptyDeadQueuesAndRenewsOneThatCannotBeForgotten() {
    List<String> asked = new ArrayList<>();
    CannedRedis redis =
        new CannedRedis(
            command -> {
              if (!command.contains(RedisKeys.privateQueue(UNREADABLE, ""))) {
                return reply(command);
              }
              asked.add(command.get(2));
              return command.get(2).equals(FORGET_KEYS)
                  ? new JedisDataException("TRYAGAIN Multiple keys request")
                  : List.of(1_000L, 2L, 1L, 0L, "dead");
            });
    LaneLeaseRenewer renewer = renewer(redis, true);

    renewer.round();
    renewer.round();

    assertThat(asked).containsExactly("1", FORGET_KEYS, "1", FORGET_KEYS);
    assertThat(renewer.backlog(UNREADABLE)).isEqualTo(new PartitionBacklog(5, 0, 2));
    assertThat(leases.get(UNREADABLE).deadLeases()).containsExactly("dead");
  }

  /** One is of the future: the clock of Redis was set back. */
  @ParameterizedTest
  @CsvSource({"400, 600", "1000, 0", "2000, 0"})
  void readsTheAgeOfTheOldestOrderOfAnOutbox(long admittedAt, long age) {
    String oldest = OrderMessageCodec.encode(OrderMessages.of(1601, 1, admittedAt));
    LaneLeaseRenewer renewer =
        renewer(
            new CannedRedis(command -> command.get(0).equals("LINDEX") ? oldest : reply(command)),
            false);

    renewer.round();

    assertThat(renewer.backlog(1).oldestAgeMs()).isEqualTo(age);
  }

  @Test
  void renewsEachAloneWherePartitionsCanFailAlone() {
    CannedRedis redis = new CannedRedis(LaneLeaseRenewerTest::reply);

    renewer(redis, true).round();

    assertThat(redis.roundTrips()).isEqualTo(Partition.COUNT);
  }

  @Test
  void renewsTheOthersWhileAPartitionAnswersWithAnError() {
    CannedRedis redis =
        new CannedRedis(
            command ->
                command.contains(RedisKeys.lanes(UNREADABLE))
                    ? new JedisDataException("WRONGTYPE of this partition")
                    : reply(command));
    LaneLeaseRenewer renewer = renewer(redis, false);

    renewer.round();

    assertThat(renewer.backlog(UNREADABLE)).isEqualTo(PartitionBacklog.UNKNOWN);
    assertThat(renewer.backlog(UNREADABLE + 1).dead()).isEqualTo(2);
    assertThat(redis.roundTrips()).isEqualTo(1 + Partition.COUNT);
    renewer.round();
    assertThat(redis.roundTrips()).as("one by one").isEqualTo(1 + 2 * Partition.COUNT);
  }

  @Test
  void renewsTheOthersWhileTheServerOfAPartitionIsAway() {
    CannedRedis redis =
        new CannedRedis(
            command -> {
              if (command.contains(RedisKeys.lanes(UNREADABLE))) {
                throw new JedisConnectionException("for the test");
              }
              return reply(command);
            });
    LaneLeaseRenewer renewer = renewer(redis, true);

    renewer.round();

    assertThat(renewer.backlog(UNREADABLE)).isEqualTo(PartitionBacklog.UNKNOWN);
    assertThat(IntStream.range(0, Partition.COUNT).filter(p -> renewer.backlog(p).dead() == 2))
        .hasSize(Partition.COUNT - 1);
  }

  /** A frozen node costs a round one time-out, however many partitions it has. */
  @Test
  void asksASilentNodeOnceARoundAfterTheFirst() {
    List<String> away = IntStream.rangeClosed(3, 8).mapToObj(RedisKeys::lanes).toList();
    AtomicInteger asked = new AtomicInteger();
    CannedRedis redis =
        new CannedRedis(
            command -> {
              if (!Collections.disjoint(command, away)) {
                asked.incrementAndGet();
                throw new JedisConnectionException("frozen");
              }
              return reply(command);
            });
    LaneLeaseRenewer renewer = renewer(redis, true);

    renewer.round();
    assertThat(asked.getAndSet(0)).isEqualTo(away.size());
    renewer.round();

    assertThat(asked).hasValue(1);
  }

  /** A former master refuses to write, which breaks no connection. */
  @Test
  void asksForTheMasterAgainAfterAnErrorReply() {
    CannedRedis demoted = new CannedRedis(command -> new JedisDataException("READONLY"));
    CannedRedis promoted = new CannedRedis(LaneLeaseRenewerTest::reply);
    LaneLeaseRenewer renewer = renewer(List.of(demoted, promoted).iterator()::next, false);

    renewer.round();
    renewer.round();

    assertThat(renewer.backlog(0).dead()).isEqualTo(2);
  }

  /** For example a CA file that is being rewritten, or no thread for a connection. */
  @Test
  void renewsAgainAfterFailuresThatAreNotOfRedis() {
    CannedRedis redis = new CannedRedis(LaneLeaseRenewerTest::reply);
    AtomicInteger opened = new AtomicInteger();
    LaneLeaseRenewer renewer =
        renewer(
            () ->
                switch (opened.getAndIncrement()) {
                  case 0 -> throw new IllegalArgumentException("no PEM file");
                  case 1 -> throw new InternalError("no thread");
                  default -> redis;
                },
            false);

    renewer.round();
    renewer.round();
    renewer.round();

    assertThat(renewer.backlog(0).dead()).isEqualTo(2);
  }

  @Test
  void renewsTheLeasesOfLanesThatAreAbleToWorkOnly() {
    LeaseSettings usual = LeaseSettings.DEFAULT;
    String token = leases.get(7).begin(new CannedRedis(command -> 1L));
    List<String> sent = new ArrayList<>();
    CannedRedis redis =
        new CannedRedis(
            command -> {
              sent.addAll(command);
              return reply(command);
            });

    renewer(redis, false).round();
    assertThat(sent).contains(token);

    sent.clear();
    LeaseSettings atOnce =
        new LeaseSettings(
            usual.duration(), usual.renewInterval(), Duration.ofNanos(1), usual.quietPeriod());
    new LaneLeaseRenewer(() -> redis, false, atOnce, leases, false).round();
    assertThat(sent).contains(RedisKeys.lanes(7)).doesNotContain(token);
  }

  /** They can do nothing without it, and are not to lose their leases when it is back. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void renewsTheLeasesOfLanesThatHadNoRedis(boolean apart) {
    Duration releaseAfter = Duration.ofMillis(100);
    LaneLease lease = leases.get(7);
    String token = lease.begin(new CannedRedis(command -> 1L));
    AtomicBoolean away = new AtomicBoolean();
    List<String> sent = new ArrayList<>();
    CannedRedis redis =
        new CannedRedis(
            command -> {
              if (away.get() && command.contains(RedisKeys.lanes(7))) {
                throw new JedisConnectionException("for the test");
              }
              sent.addAll(command);
              return reply(command);
            });
    LeaseSettings settings =
        new LeaseSettings(
            LeaseSettings.DEFAULT.duration(),
            LeaseSettings.DEFAULT.renewInterval(),
            releaseAfter,
            LeaseSettings.DEFAULT.quietPeriod());
    LaneLeaseRenewer renewer = new LaneLeaseRenewer(() -> redis, apart, settings, leases, false);
    eventually().until(() -> !lease.workedWithin(releaseAfter));

    eventually("a renewal right after a failure") // the time between may be long, once
        .until(
            () -> {
              away.set(true);
              renewer.round();
              away.set(false);
              sent.clear();
              renewer.round();
              return sent.contains(token);
            });
  }

  private LaneLeaseRenewer renewer(CannedRedis redis, boolean apart) {
    return renewer(() -> redis, apart);
  }

  private LaneLeaseRenewer renewer(Supplier<UnifiedJedis> opener, boolean apart) {
    return new LaneLeaseRenewer(opener, apart, LeaseSettings.DEFAULT, leases, false);
  }

  /** To renew.lua, LLEN and LINDEX. */
  private static Object reply(List<String> command) {
    return switch (command.get(0)) {
      case "EVALSHA" -> List.of(1_000L, 2L, 0L, 0L, "dead");
      case "LLEN" -> 5L;
      default -> "not an order";
    };
  }
}
