package io.seckill.relay.lane;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.redis.RedisSettings;
import io.seckill.common.redis.RedisSettings.Mode;
import io.seckill.testing.ChildProcessesOnly;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.RedisReplicaSet;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.exceptions.JedisException;

/** After a failover by Sentinel, a relay publishes the orders that the promoted replica has. */
@Tag("proof")
@ChildProcessesOnly
class LanesSentinelIT {

  private RedisReplicaSet redis;
  private List<String> sentinels;
  private RabbitVhost rabbit;
  private TestBroker broker;
  private TestOutbox outbox;

  @BeforeEach
  void start(RabbitServer rabbitServer) throws Exception {
    redis = RedisReplicaSet.start("appendonly yes", "appendfsync always");
    sentinels = // with the rights that configuration.md names
        redis.sentinelsAs(
            "watcher",
            "secret",
            "-@all",
            "+ping",
            "+client|setname",
            "+sentinel|get-master-addr-by-name",
            "+subscribe",
            "&+switch-master");
    rabbit = rabbitServer.newVhost();
    broker = TestBroker.consuming(rabbit.url());
    outbox = new TestOutbox(settings());
  }

  @AfterEach
  void stop() {
    outbox.close();
    broker.close();
    redis.close();
  }

  @Test
  void publishesFromThePromotedReplica() {
    long[] skus = TestOutbox.skusOfEveryPartition();
    List<String> admitted = outbox.admit(8_000, skus);
    redis.awaitReplicated();
    try (TestRelay relay = startRelay()) {
      eventually().until(() -> broker.seen() > 100);

      redis.failOver();

      eventually().until(() -> broker.seen() == admitted.size());
      assertThat(broker.deliveries()).containsOnlyKeys(admitted);
      eventually()
          .ignoreExceptionsInstanceOf(JedisException.class) // pooled before the failover
          .until(() -> outbox.waiting() == 0 && outbox.inPrivateQueues() == 0);
      List<String> later = outbox.admit(160, skus);
      eventually().until(() -> broker.deliveries().keySet().containsAll(later));
      assertThat(relay.count("settled")).isGreaterThanOrEqualTo(later.size());
      eventually("listeners, of the test's own client only")
          .until(() -> listeners() == sentinels.size());
    }
  }

  private TestRelay startRelay() {
    return TestRelay.start(
        settings(), TestRelay.broker(rabbit.url(), null), TestRelay.Tuning.DEFAULT);
  }

  /** Jedis leaves listener threads behind when clients are replaced, as at a failover. */
  private static long listeners() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().contains("SentinelListener"))
        .count();
  }

  private RedisSettings settings() {
    return new RedisSettings(
        Mode.SENTINEL,
        "redis://127.0.0.1:1", // no server: the Sentinel names the master
        sentinels,
        redis.name(),
        null,
        null,
        null);
  }
}
