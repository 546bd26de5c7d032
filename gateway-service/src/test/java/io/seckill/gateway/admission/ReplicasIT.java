package io.seckill.gateway.admission;

import static io.seckill.gateway.admission.Calls.attempt;
import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.gateway.admission.Admission.Admitted;
import io.seckill.gateway.admission.Admission.Repeated;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.testing.TestSale;
import io.seckill.testing.ChildProcessesOnly;
import io.seckill.testing.RedisServer;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.UnifiedJedis;

@Tag("proof")
@ChildProcessesOnly
@DisplayName("WAIT on the writing connection, once per batch (facts.md 9)")
class ReplicasIT {

  private RedisServer master;
  private RedisServer replica;
  private UnifiedJedis redis;
  private UnifiedJedis onReplica;
  private Calls calls;

  @BeforeEach
  void start() {
    master = RedisServer.start();
    replica = RedisServer.start("replicaof 127.0.0.1 " + master.port());
    redis = master.open();
    onReplica = replica.open();
    redis.set("here", "yes");
    eventually().until(() -> onReplica.get("here") != null);
    calls = new Calls(redis, 1);
  }

  @AfterEach
  void stop() {
    redis.close();
    onReplica.close();
    replica.close();
    master.close();
  }

  @Test
  void answersQueuedOnceTheReplicaHasTheOrder() {
    TestSale sale = TestSale.unlimited(redis, 10);

    eventually()
        .until(
            () ->
                calls
                    .together(attempt(sale, 1, "key-0001", 1), attempt(sale, 2, "key-0001", 1))
                    .stream()
                    .allMatch(ReplicasIT::isQueued));
    replica.freeze();
    master.kill();
    replica.thaw();
    assertThat(onReplica.get("seckill:{9}:stock:1001")).isEqualTo("8");
  }

  @Test
  void answersUnknownWhenTheReplicaIsSilentAndTheSameKeyGetsItsOrderLater() {
    TestSale sale = TestSale.unlimited(redis, 10);
    replica.freeze();

    assertThat(calls.one(attempt(sale, 1, "key-0001", 1))).isEqualTo(Unknown.REPLICAS);
    assertThat(sale.outbox()).as("it is admitted and a relay can take it").hasSize(1);
    assertThat(calls.one(attempt(sale, 1, "key-0001", 1)))
        .as("a repeat promises as much as the first answer, so it waits for as many replicas")
        .isEqualTo(Unknown.REPLICAS);
    assertThat(calls.one(attempt(sale, 2, "key-0001", 11)))
        .as("a refusal promises nothing, so it does not wait")
        .isInstanceOf(Refusal.class);

    replica.thaw();
    eventually().until(() -> calls.one(attempt(sale, 1, "key-0001", 1)) instanceof Repeated);
    assertThat(sale.outbox()).hasSize(1);
  }

  @Test
  @DisplayName("A repeat waits for the replica also when the SKU is sold out")
  void promisesNothingForARepeatOfASoldOutSkuBeforeTheReplicaHasTheOrder() {
    TestSale sale = TestSale.unlimited(redis, 1);
    replica.freeze();
    PurchaseAttempt bought = attempt(sale, 1, "key-0001", 1);
    assertThat(calls.one(bought)).isEqualTo(Unknown.REPLICAS);

    List<Admission> outcomes = calls.together(bought, attempt(sale, 2, "key-0002", 1));

    assertThat(outcomes.get(0)).as("no replica has the order yet").isNotInstanceOf(Repeated.class);
    assertThat(outcomes.get(1)).isEqualTo(Refusal.SOLD_OUT);
    replica.thaw();
  }

  @Test
  void loadsItsScriptAgainWithinThePipeline() {
    TestSale sale = TestSale.unlimited(redis, 10);
    redis.scriptFlush("x");

    eventually().until(() -> isQueued(calls.one(attempt(sale, 1, "key-0001", 1))));
    assertThat(sale.outbox()).hasSize(1);
  }

  @Test
  void writesOnlyForRepeatsWhenNothingWasAdmitted() {
    TestSale sale = TestSale.unlimited(redis, 1);
    calls.one(attempt(sale, 1, "key-0001", 1));
    assertThat(redis.exists("seckill:{9}:pulse")).isFalse();

    calls.one(attempt(sale, 2, "key-0002", 1));
    assertThat(redis.exists("seckill:{9}:pulse")).as("a refusal writes nothing").isFalse();
    calls.one(attempt(sale, 1, "key-0001", 1));
    assertThat(redis.exists("seckill:{9}:pulse")).isTrue();
  }

  /** Accepts a repeat too: a busy machine may answer "unknown" first, and shoppers then repeat. */
  private static boolean isQueued(Admission answer) {
    return answer instanceof Admitted || answer instanceof Repeated;
  }
}
