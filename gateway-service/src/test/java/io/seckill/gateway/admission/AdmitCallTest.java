package io.seckill.gateway.admission;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.Partition;
import io.seckill.gateway.admission.Admission.Admitted;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.admission.BrokerConfirms.RecentPublishes;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.backends.RedisBreakers;
import io.seckill.gateway.fallback.Promises;
import io.seckill.gateway.fallback.TestPromises;
import io.seckill.gateway.verification.HighWaterMarks;
import io.seckill.gateway.verification.VerifiedServers;
import io.seckill.relay.lane.LaneMailbox;
import io.seckill.relay.lane.TestDirectLanes;
import io.seckill.testing.CannedRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** What becomes of a reply of admit.lua, without a server. */
class AdmitCallTest {

  private static final long SKU = 1_001;
  private static final Duration SHORT = Duration.ofMillis(200);

  private final List<Admission> outcomes = new ArrayList<>();
  private long sku = SKU;

  @ParameterizedTest
  @CsvSource({"1, 1", "1, 2", "2, 1"})
  void isQueuedOnlyOnceAsManyReplicasHaveItAsAreDemanded(int demanded, long confirmed) {
    UnifiedJedis redis =
        new CannedRedis(
            command ->
                command.get(0).equals("WAIT")
                    ? confirmed
                    : List.of("A|1", SKU + "|1|1|1|UNLIMITED|1"));

    buy(redis, new Durability(Durability.Store.REPLICAS, demanded, SHORT), shield());

    if (confirmed >= demanded) {
      assertThat(outcomes).hasExactlyElementsOfTypes(Admitted.class);
    } else {
      assertThat(outcomes).containsExactly(Unknown.REPLICAS);
    }
  }

  /** The broker would never confirm such an order. */
  @ParameterizedTest
  @CsvSource({
    "1001, REDIS, false",
    "9007199254740991, REDIS, true",
    "9007199254740991, REPLICAS, true",
    "9007199254740991, BROKER, false"
  })
  void answersOnlyTheWarmUpAsIfThereWereItsSku(
      long bought, Durability.Store durable, boolean isAdmitted) {
    sku = bought;
    UnifiedJedis redis =
        new CannedRedis(command -> command.get(0).equals("WAIT") ? 1L : List.of("U"));

    buy(
        redis,
        new Durability(durable, durable == Durability.Store.REPLICAS ? 1 : 0, SHORT),
        shield());

    assertThat(outcomes).containsExactly(isAdmitted ? Admitted.IN_WARM_UP : Refusal.UNKNOWN_SKU);
  }

  /** Units may be back since Redis decided. */
  @Test
  void isSoldOutAsOfTheMomentBeforeRedisWasAsked() {
    UnifiedJedis slow =
        new CannedRedis(
            command -> {
              long asked = System.nanoTime();
              eventually().until(() -> System.nanoTime() - asked > SHORT.toNanos());
              return List.of("O");
            });
    SoldOutShield shield = shield();

    buy(slow, new Durability(Durability.Store.REDIS, 0, Duration.ZERO), shield);

    assertThat(outcomes).containsExactly(Refusal.SOLD_OUT);
    assertThat(shield.covers(SKU)).isFalse();
  }

  /** Otherwise every refused call would leave its lane less room, until none is left. */
  @Test
  void keepsNoRoomInALaneWhileTheBreakerIsOpen() {
    UnifiedJedis down =
        new CannedRedis(
            command -> {
              throw new JedisConnectionException("down");
            });
    RedisBreaker breaker = RedisBreakers.of(down, new SimpleMeterRegistry());
    breaker.thresholds(1, 1);
    Durability inBroker = new Durability(Durability.Store.BROKER, 0, SHORT);
    List<LaneMailbox> lanes = new ArrayList<>();

    eventually() // a call opens the breaker, and a slow machine may make a trial call
        .until(
            () -> {
              lanes.clear();
              Stream.generate(() -> TestDirectLanes.openMailbox(() -> {}))
                  .limit(Partition.COUNT)
                  .forEach(lanes::add);
              assertThatThrownBy(() -> buy(down, breaker, inBroker, shield(), lanes))
                  .isInstanceOf(RuntimeException.class);
              return !outcomes.isEmpty();
            });

    assertThat(outcomes).containsExactly(Unknown.BREAKER);
    assertThat(lanes).allMatch(lane -> TestDirectLanes.outstanding(lane) == 0);
  }

  private static SoldOutShield shield() {
    return new SoldOutShield(SHORT);
  }

  private void buy(UnifiedJedis redis, Durability durability, SoldOutShield shield) {
    RedisBreaker breaker = RedisBreakers.of(redis, new SimpleMeterRegistry());
    buy(redis, breaker, durability, shield, List.of());
  }

  private void buy(
      UnifiedJedis redis,
      RedisBreaker breaker,
      Durability durability,
      SoldOutShield shield,
      List<LaneMailbox> lanes) {
    VerifiedServers servers = new VerifiedServers();
    servers.verified(Partition.ofSku(sku), "server");
    Promises promises = TestPromises.withoutFallback();
    new AdmitCall(
            redis,
            breaker,
            durability,
            new AdmitRequests(servers, promises, Calls.IDS::next, sku -> null, lanes, durability),
            new AdmitAnswers(
                servers,
                () -> {},
                new HighWaterMarks(),
                shield,
                promises,
                sku -> null,
                durability,
                new RecentPublishes()),
            new AdmissionMetrics(new SimpleMeterRegistry()))
        .execute(
            List.of(
                new Purchase(
                    new PurchaseAttempt(sku, 7, "key-0001", true, 1, null), outcomes::add)));
  }
}
