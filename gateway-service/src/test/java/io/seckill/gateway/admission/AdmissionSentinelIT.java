package io.seckill.gateway.admission;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.gateway.testing.ConsumerProcess;
import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.testing.ChildProcessesOnly;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.RedisDatabase;
import io.seckill.testing.RedisReplicaSet;
import io.seckill.testing.TestServers;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A sale continues, with unchanged data, on the replica that Sentinel has promoted. */
@Tag("proof")
@ChildProcessesOnly
class AdmissionSentinelIT {

  private static final long SKU = 1_700;

  private static RedisReplicaSet redis;
  private static ConsumerProcess consumer;
  private static TestGateway gateway;

  @BeforeAll
  static void start() {
    redis = RedisReplicaSet.start("appendonly yes", "appendfsync always");
    String sentinels = String.join(",", redis.sentinels());
    RedisDatabase nobody = new RedisDatabase("127.0.0.1", 1, 0); // unused: Sentinel has the address
    MySqlDatabase mysql = TestServers.mysql().newDatabase();
    consumer =
        ConsumerProcess.start(
            nobody.url(),
            TestServers.rabbit().newVhost(),
            mysql,
            Map.of(
                "SECKILL_REDIS_MODE",
                "sentinel",
                "SECKILL_REDIS_NODES",
                sentinels,
                "SECKILL_REDIS_MASTER",
                redis.name(),
                "SECKILL_PREHEAT_ALLOWUNSAFEREDIS",
                "false"));
    gateway =
        TestGateway.start(
            nobody,
            mysql,
            consumer.url(),
            "seckill.redis.mode=sentinel",
            "seckill.redis.nodes=" + sentinels,
            "seckill.redis.master=" + redis.name());
    eventually().until(() -> gateway.bean(VerifiedServers.class).allVerified());
  }

  @AfterAll
  static void stop() {
    gateway.close();
    consumer.close();
    redis.close();
  }

  @Test
  void keepsItsPromisesOverAFailover() {
    expect(
        201,
        gateway.operate(
            "PUT", GatewayStage.admin(SKU), GatewayStage.product(PurchasePolicy.LIMITED, 2, 4)));
    expect(200, gateway.operate("POST", GatewayStage.admin(SKU) + "/preheat", null));
    expect(200, gateway.operate("POST", GatewayStage.admin(SKU) + "/open", null));
    GatewayAnswer first = gateway.buy(1, SKU, 2, "key-of-user-1");
    expect(202, first);
    redis.awaitReplicated();

    redis.failOver();

    eventually().until(() -> gateway.buy(2, SKU, 1, "key-of-user-2").status() == 202);
    assertThat(gateway.buy(1, SKU, 2, "key-of-user-1").text("orderId"))
        .isEqualTo(first.text("orderId"));
    assertThat(gateway.buy(1, SKU, 1, "key-two-user-1").code()).isEqualTo("QUOTA_EXCEEDED");
    assertThat(gateway.buy(3, SKU, 2, "key-of-user-3").code()).isEqualTo("TOO_FEW_LEFT");
  }

  private static void expect(int status, GatewayAnswer answer) {
    assertThat(answer.status()).as(answer.toString()).isEqualTo(status);
  }
}
