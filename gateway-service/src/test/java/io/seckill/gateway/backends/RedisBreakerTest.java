package io.seckill.gateway.backends;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisSettings;
import io.seckill.gateway.backends.RedisBreaker.Health;
import io.seckill.testing.BreakerContract;
import io.seckill.testing.CannedRedis;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisAccessControlException;
import redis.clients.jedis.exceptions.JedisBusyException;
import redis.clients.jedis.exceptions.JedisClusterException;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

class RedisBreakerTest {

  private static final Duration SOCKET_TIMEOUT = Duration.ofMillis(250);

  /** Nothing listens there; the calls of this test never leave the process. */
  private final UnifiedJedis redis =
      RedisClients.open(RedisSettings.single("redis://127.0.0.1:1"), "test");

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5); // it may overflow
  private final RedisBreaker breaker = breaker(false);

  @AfterEach
  void close() {
    redis.close();
  }

  @Test
  void opensOnABurstOfErrors() {
    succeed(0, 3);

    fail(0, 2);
    assertThat(breaker.isClosed(0)).isTrue();
    fail(0, 1);

    assertThat(breaker.isClosed(0)).isFalse();
    assertThat(transitions("open")).isEqualTo(1);
    assertThat(errors("link")).isEqualTo(3);
    eventually().until(this::refusesWhileItIsOpen);
    assertThat(errors("breaker")).isEqualTo(1);
    assertThat(errors("reply")).isZero();
  }

  /** It permits trial calls 400 ms after it opened; the clock of this test does not count. */
  private boolean refusesWhileItIsOpen() {
    open(breaker, 0);
    try {
      breaker.call(0, () -> "");
      return false;
    } catch (CallNotPermittedException e) {
      return true;
    }
  }

  @Test
  void staysClosedOnAFewErrorsAtNight() {
    for (int i = 0; i < 100; i++) {
      fail(0, 2);
      pass(Duration.ofMillis(1_050));
    }

    assertThat(breaker.isClosed(0)).isTrue();
  }

  @Test
  void staysClosedOnManyErrorsAmongFarMoreSuccesses() {
    succeed(0, 1_000);
    fail(0, 400);

    assertThat(breaker.isClosed(0)).isTrue();
  }

  @Test
  void countsWithinASecondAtEveryMoment() {
    pass(Duration.ofMillis(900));

    for (int i = 0; i < 3; i++) {
      assertThat(breaker.isClosed(0)).isTrue();
      fail(0, 1);
      pass(Duration.ofMillis(250));
    }

    assertThat(breaker.isClosed(0)).isFalse();
  }

  @Test
  void opensOnCallsThatAreNearlyAllSlow() {
    succeed(0, 1);
    slow(5);
    assertThat(breaker.isClosed(0)).isTrue();
    slow(1);
    assertThat(breaker.isClosed(0)).isFalse();
  }

  @Test
  void staysClosedWhileAFifthOfTheCallsIsFast() {
    succeed(0, 2);
    slow(6);
    assertThat(breaker.isClosed(0)).isTrue();
  }

  @Test
  void ignoresRepliesThatTheCommandIsWrong() {
    refuse(10, new JedisDataException("WRONGTYPE Operation against a key"));

    assertThat(breaker.isClosed(0)).isTrue();
    assertThat(breaker.health().failuresPerSecond()).isZero();
    assertThat(errors("reply")).isEqualTo(10);
  }

  static Stream<JedisDataException> repliesOfAServerThatCannotDecide() {
    return Stream.of(
        new JedisDataException("OOM command not allowed when used memory > 'maxmemory'."),
        new JedisDataException("ERR max number of clients reached"),
        new JedisBusyException("BUSY Redis is busy running a script."),
        new JedisAccessControlException("NOAUTH Authentication required."),
        new JedisClusterException("CLUSTERDOWN The cluster is down"));
  }

  @ParameterizedTest
  @MethodSource("repliesOfAServerThatCannotDecide")
  void opensOnWritesThatTheServerRefusesAlthoughItAnswersReads(JedisDataException refusal) {
    succeed(0, 1_000);
    refuse(2, refusal);
    assertThat(breaker.isClosed(0)).isTrue();

    refuse(1, refusal);

    assertThat(breaker.isClosed(0)).isFalse();
    assertThat(breaker.health().usable()).isFalse();
  }

  @Test
  void opensAgainWhenTheTrialCallsAreRefused() {
    open(breaker, 0);
    eventually().until(() -> !breaker.isOpen(0));

    refuse(3, new JedisDataException("OOM command not allowed"));

    assertThat(breaker.isClosed(0)).isFalse();
    assertThat(transitions("open")).isEqualTo(2);
  }

  @Test
  void anErrorEndsItsTrialCall() {
    open(breaker, 0);
    eventually().until(() -> !breaker.isOpen(0));
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(
              () ->
                  breaker.call(
                      0,
                      () -> {
                        throw new StackOverflowError();
                      }))
          .isInstanceOf(StackOverflowError.class);
    }

    recover(breaker, 0);
  }

  @Test
  void isUsableAgainOnlyWhenAWriteHasSucceededAfterARefusal() {
    refuse(3, new JedisDataException("OOM command not allowed"));
    pass(Duration.ofSeconds(1));
    recover(breaker, 0); // by reads

    pass(Duration.ofSeconds(1));
    refuse(1, new JedisDataException("OOM command not allowed"));
    assertThat(breaker.isClosed(0)).isTrue();
    assertThat(breaker.health().usable()).isFalse();
    assertThat(breaker.health().since()).isEqualTo(Duration.ofSeconds(2));

    breaker.write(0, () -> "");
    assertThat(breaker.health().usable()).isTrue();
    assertThat(breaker.health().since()).isZero();
  }

  private void refuse(int times, JedisDataException refusal) {
    for (int i = 0; i < times; i++) {
      assertThatThrownBy(
              () ->
                  breaker.write(
                      0,
                      () -> {
                        throw refusal;
                      }))
          .isSameAs(refusal);
    }
  }

  @Test
  void takesNewThresholdsAtRunTime() {
    breaker.thresholds(90, 100);
    fail(0, 99);
    assertThat(breaker.isClosed(0)).isTrue();

    breaker.thresholds(90, 50);
    fail(0, 1);

    assertThat(breaker.isClosed(0)).isFalse();
    assertThat(transitions("open")).isEqualTo(1);
  }

  @Test
  void refusesThresholdsOutOfRange() {
    assertThatIllegalArgumentException().isThrownBy(() -> breaker.thresholds(0, 3));
    assertThatIllegalArgumentException().isThrownBy(() -> breaker.thresholds(101, 3));
    assertThatIllegalArgumentException().isThrownBy(() -> breaker.thresholds(50, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> breaker.thresholds(50, 100_001));
  }

  @Test
  void doesNotCountTheOutageASecondTimeWhenItIsOver() {
    open(breaker, 0);
    recover(breaker, 0);

    fail(0, 2);

    assertThat(breaker.isClosed(0)).isTrue();
  }

  @Test
  void reportsItsHealth() {
    pass(Duration.ofSeconds(5));
    assertThat(breaker.health()).isEqualTo(new Health(true, Duration.ofSeconds(5), "CLOSED", 0, 0));

    succeed(0, 2);
    fail(0, 3);
    pass(Duration.ofMillis(300));
    assertThat(breaker.health())
        .isIn(
            new Health(false, Duration.ofMillis(300), "OPEN", 60, 3),
            new Health(false, Duration.ofMillis(300), "HALF_OPEN", 60, 3));

    recover(breaker, 0);
    pass(Duration.ofSeconds(1));
    assertThat(breaker.health()).isEqualTo(new Health(true, Duration.ofSeconds(1), "CLOSED", 0, 0));
  }

  @Test
  void isUnusableSinceItOpenedWhateverTheTrialCallsShow() {
    open(breaker, 0);
    pass(Duration.ofSeconds(1));
    eventually().until(() -> breaker.health().state().equals("HALF_OPEN"));
    fail(0, 3);
    pass(Duration.ofSeconds(1));

    Health health = breaker.health();

    assertThat(health.usable()).isFalse();
    assertThat(health.since()).isEqualTo(Duration.ofSeconds(2));
  }

  @Test
  void ofAClusterOpensForThePartitionsThatFailOnly() {
    RedisBreaker cluster = breaker(true);
    IntStream.range(3, 16).forEach(partition -> call(cluster, partition, false));

    IntStream.range(0, 3).forEach(partition -> call(cluster, partition, true));
    IntStream.range(0, 2).forEach(partition -> call(cluster, partition, true));

    assertThat(IntStream.range(0, 16).filter(partition -> !cluster.isClosed(partition)))
        .containsExactly(0, 1, 2);
    assertThat(cluster.health().usable()).isTrue();
    assertThat(cluster.health().state()).isEqualTo("HALF_OPEN");
  }

  @Test
  void ofAClusterIsOneForEachPartition() {
    RedisBreaker cluster =
        RedisBreakers.of(CannedRedis.cluster(command -> 0L), new SimpleMeterRegistry());
    cluster.thresholds(1, 1);

    call(cluster, 1, true);

    assertThat(cluster.isClosed(1)).isFalse();
    assertThat(cluster.isClosed(0)).isTrue();
  }

  @Test
  void ofAClusterIsUnusableWhenAllPartitionsAreOpen() {
    RedisBreaker cluster = breaker(true);
    IntStream.range(0, 15).forEach(partition -> open(cluster, partition));
    assertThat(cluster.health().usable()).isTrue();

    open(cluster, 15);

    assertThat(cluster.health().usable()).isFalse();
  }

  /** Refused servers answer, so that the breakers stay closed. */
  @Test
  void isUnusableWhileNoPartitionIsSoldFrom() {
    pass(Duration.ofSeconds(5));

    breaker.notSoldFrom(partitions(0, 15));
    assertThat(breaker.health().usable()).as("one is sold from").isTrue();
    breaker.notSoldFrom(partitions(0, 16));
    pass(Duration.ofSeconds(2));
    breaker.notSoldFrom(partitions(0, 16));

    assertThat(breaker.health())
        .isEqualTo(new Health(false, Duration.ofSeconds(2), "CLOSED", 0, 0));
    breaker.notSoldFrom(Set.of());
    assertThat(breaker.health()).isEqualTo(new Health(true, Duration.ZERO, "CLOSED", 0, 0));
  }

  @Test
  void ofAClusterIsUnusableWhenTheClosedPartitionsAreNotSoldFrom() {
    RedisBreaker cluster = breaker(true);
    IntStream.range(0, 15).forEach(partition -> open(cluster, partition));
    cluster.notSoldFrom(partitions(0, 15));
    assertThat(cluster.health().usable()).isTrue();

    cluster.notSoldFrom(partitions(15, 16));

    assertThat(cluster.health().usable()).isFalse();
  }

  private static Set<Integer> partitions(int from, int to) {
    return IntStream.range(from, to).boxed().collect(Collectors.toSet());
  }

  @Test
  void triesAgainWhateverTheTimeOfDay() {
    BreakerContract.triesAgainWhateverTheTimeOfDay(RedisBreaker.config(SOCKET_TIMEOUT, nanos::get));
  }

  private RedisBreaker breaker(boolean apart) {
    return new RedisBreaker(redis, apart, SOCKET_TIMEOUT, meters, nanos::get);
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  private void succeed(int partition, int times) {
    IntStream.range(0, times).forEach(i -> call(breaker, partition, false));
  }

  private void fail(int partition, int times) {
    IntStream.range(0, times).forEach(i -> call(breaker, partition, true));
  }

  private void slow(int times) {
    for (int i = 0; i < times; i++) {
      breaker.call(
          0,
          () -> {
            pass(Duration.ofMillis(150));
            return "";
          });
    }
  }

  private static void call(RedisBreaker breaker, int partition, boolean fails) {
    try {
      breaker.call(
          partition,
          () -> {
            if (fails) {
              throw new JedisConnectionException("down");
            }
            return "";
          });
    } catch (JedisConnectionException e) {
      assertThat(fails).isTrue();
    }
  }

  private static void open(RedisBreaker breaker, int partition) {
    while (!breaker.isOpen(partition)) {
      call(breaker, partition, true);
    }
  }

  /** Waits for the trial calls, which all succeed. */
  private static void recover(RedisBreaker breaker, int partition) {
    eventually().until(() -> !breaker.isOpen(partition));
    IntStream.range(0, 3).forEach(i -> call(breaker, partition, false));
    assertThat(breaker.isClosed(partition)).isTrue();
  }

  private double errors(String kind) {
    return meters.get("seckill.redis.errors").tag("kind", kind).counter().count();
  }

  private double transitions(String to) {
    return meters.get("seckill.breaker.transitions").tag("to", to).counter().count();
  }
}
