package io.seckill.gateway.verification;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.backends.RedisBreakers;
import io.seckill.gateway.verification.RedisInspection.View;
import io.seckill.gateway.verification.StoredSales.Sale;
import io.seckill.testing.CannedRedis;
import io.seckill.testing.LoggedLines;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisAccessControlException;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

class RedisInspectionTest {

  private static final String SERVER = "5eed";
  private static final long SKU = 1001;
  private static final int UNREADABLE = 3;

  @Test
  void readsAllPartitionsOfOneServerInOneRoundTrip() {
    CannedRedis redis = new CannedRedis(RedisInspectionTest::reply);

    View view = inspect(redis);

    assertThat(redis.roundTrips()).isEqualTo(1);
    assertThat(view.servers()).hasSize(Partition.COUNT).containsValue(SERVER);
    assertThat(view.sales().get(SKU).seq()).isEqualTo(7);
  }

  /** See {@link RedisKeys#absent}. */
  @Test
  void namesASecondKeyOfEachPartition() {
    List<List<String>> keys = new ArrayList<>();

    View view =
        inspect(
            new CannedRedis(
                command -> {
                  keys.add(CannedRedis.keysOf(command));
                  return reply(command);
                }));

    assertThat(view.servers()).hasSize(Partition.COUNT);
    assertThat(keys)
        .isEqualTo(
            IntStream.range(0, Partition.COUNT)
                .mapToObj(p -> List.of(RedisKeys.outbox(p), RedisKeys.absent(p)))
                .toList());
  }

  @Test
  void readsTheOthersOneByOneWhenAPartitionAnswersWithAnError() {
    CannedRedis redis =
        new CannedRedis(
            command ->
                command.contains(RedisKeys.outbox(UNREADABLE))
                    ? new JedisDataException("ERR of this partition")
                    : reply(command));

    View view = inspect(redis);

    assertThat(redis.roundTrips()).isEqualTo(1 + Partition.COUNT);
    assertThat(view.servers()).hasSize(Partition.COUNT - 1).doesNotContainKey(UNREADABLE);
  }

  /** A partition that cannot be inspected is not sold from. */
  @ParameterizedTest
  @MethodSource("failuresOfAPartition")
  void saysWhatRedisRefuses(JedisException failure, List<String> lines) {
    CannedRedis redis =
        new CannedRedis(
            command -> {
              if (command.contains(RedisKeys.outbox(UNREADABLE))) {
                throw failure;
              }
              return reply(command);
            });

    try (LoggedLines logged = LoggedLines.ofThisThread(RedisInspection.class)) {
      assertThat(inspect(redis).servers()).doesNotContainKey(UNREADABLE);
      assertThat(logged.texts()).isEqualTo(lines);
    }
  }

  static Stream<Arguments> failuresOfAPartition() {
    JedisException noRight = new JedisAccessControlException("NOPERM no right to hmget");
    JedisException otherType = new JedisDataException("WRONGTYPE of this partition");
    String said = "partition " + UNREADABLE + " cannot be inspected: ";
    return Stream.of(
        arguments(noRight, List.of(said + noRight)),
        arguments(otherType, List.of(said + otherType)),
        arguments(new JedisConnectionException("its node is away"), List.of()));
  }

  @Test
  void asksForEachPartitionOfAClusterAlone() {
    UnifiedJedis redis =
        CannedRedis.cluster(
            command -> {
              if (command.contains(RedisKeys.outbox(UNREADABLE))) {
                throw new JedisConnectionException("its node is away");
              }
              return reply(command);
            });

    assertThat(inspect(redis).servers()).hasSize(Partition.COUNT - 1).doesNotContainKey(UNREADABLE);
  }

  @ParameterizedTest
  @CsvSource({"3, false", "2, true", "0, true", "'', false"})
  void aSaleThatAFormerReleaseHasLoadedHasNoNumberOfChanges(String changes, boolean lacksSome) {
    Sale sale = new Sale(SKU, "OPEN", false, 1, 7, 3);

    View view = inspect(new CannedRedis(command -> reply(command, changes)));

    assertThat(sale.isAheadOf(view.sales().get(SKU))).isEqualTo(lacksSome);
  }

  /** Purchases are refused then, and a report of such a number as well. */
  @Test
  void takesNoNumberThatAdmissionDoesNotTake() {
    View view =
        inspect(
            new CannedRedis(
                command ->
                    command.contains(Long.toString(SKU))
                        ? List.of(SERVER, "OPEN", "1", "100000000000000", "0")
                        : List.of(SERVER)));

    assertThat(view.sales().get(SKU).seq()).isZero();
  }

  /** As many calls fail as before it asked for all at once: the breaker opens as early. */
  @Test
  void triesOneByOneUntilTheBreakerOpensWhenRedisIsAway() {
    eventually() // on a slow machine the calls may be too far apart for the breaker
        .untilAsserted(
            () -> {
              CannedRedis redis =
                  new CannedRedis(
                      command -> {
                        throw new JedisConnectionException("away");
                      });

              assertThat(inspect(redis).servers()).isEmpty();
              assertThat(redis.roundTrips()).as("before the breaker opens").isEqualTo(2);
            });
  }

  private static View inspect(UnifiedJedis redis) {
    RedisInspection inspection =
        new RedisInspection(redis, RedisBreakers.of(redis, new SimpleMeterRegistry()));
    return inspection.inspect(List.of(new Sale(SKU, "OPEN", false, 1, 7, 0)));
  }

  private static Object reply(List<String> command) {
    return reply(command, "0");
  }

  private static Object reply(List<String> command, String changes) {
    return command.contains(Long.toString(SKU))
        ? List.of(SERVER, "OPEN", "1", "7", changes)
        : List.of(SERVER);
  }
}
