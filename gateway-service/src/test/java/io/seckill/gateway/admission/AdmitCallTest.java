package io.seckill.gateway.admission;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.gateway.admission.Admission.Admitted;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.backends.RedisBreakers;
import io.seckill.gateway.fallback.Promises;
import io.seckill.gateway.fallback.TestPromises;
import io.seckill.gateway.verification.HighWaterMarks;
import io.seckill.gateway.verification.VerifiedServers;
import io.seckill.testing.CannedRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.UnifiedJedis;

/** What becomes of a reply of admit.lua, without a server. */
class AdmitCallTest {

  private static final long SKU = 1_001;
  private static final Duration SHORT = Duration.ofMillis(200);

  private final List<Admission> outcomes = new ArrayList<>();

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

  private static SoldOutShield shield() {
    return new SoldOutShield(SHORT);
  }

  private void buy(UnifiedJedis redis, Durability durability, SoldOutShield shield) {
    VerifiedServers servers = new VerifiedServers();
    servers.verified((int) (SKU % 16), "server");
    Promises promises = TestPromises.withoutFallback();
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    new AdmitCall(
            redis,
            RedisBreakers.of(redis, meters),
            durability,
            new AdmitRequests(
                servers, promises, Calls.IDS::next, sku -> null, List.of(), durability),
            new AdmitAnswers(
                servers, () -> {}, new HighWaterMarks(), shield, promises, sku -> null, durability),
            new AdmissionMetrics(meters))
        .execute(
            List.of(
                new Purchase(
                    new PurchaseAttempt(SKU, 7, "key-0001", true, 1, null), outcomes::add)));
  }
}
