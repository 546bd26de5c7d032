package io.seckill.relay.lane;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.redis.RedisKeys;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.RedisDatabase;
import io.seckill.testing.RedisServer;
import io.seckill.testing.ShippedUsers;
import io.seckill.testing.TestServers;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * facts.md 14: the ACL rules shipped in deploy/ apply inside scripts too, and are sufficient for
 * the relay.
 */
@Tag("proof")
@ExtendWith(TestServers.class)
class RelayRedisUserIT {

  private static final String USER = "relay";

  @Test
  void carriesAdoptsAndCountsWithTheRightsItIsShippedWith(RabbitServer rabbitServer)
      throws Exception {
    try (RedisServer redisServer = RedisServer.start()) {
      RedisDatabase redis = redisServer.newDatabase();
      RabbitVhost rabbit = rabbitServer.newVhost();
      try (TestOutbox outbox = new TestOutbox(redis.url());
          TestBroker broker = TestBroker.consuming(rabbit.url())) {
        ShippedUsers.inRedis(outbox.redis(), USER);
        String brokerUrl = ShippedUsers.inRabbit(rabbitServer, rabbit, USER);
        outbox.preheat(1600);
        outbox.redis().zadd(RedisKeys.lanes(0), 1, "ghost:0:aa");
        outbox.claimLate("ghost:0:aa", 1600);
        outbox.claimLate("orphan:0:bb", 1600);
        outbox.admit(500, TestOutbox.skusOfEveryPartition());
        outbox.admitText(3, "junk");

        try (TestRelay relay =
            TestRelay.start(
                redis.url(USER, ShippedUsers.PASSWORD), brokerUrl, TestRelay.Tuning.PATIENT)) {
          eventually().until(() -> broker.seen() == 502);
          outbox.redis().scriptFlush();
          outbox.admit(100, TestOutbox.skusOfEveryPartition());
          eventually().until(() -> broker.seen() == 602);
          eventually().until(() -> broker.deadLetters().size() == 1);
          eventually().until(() -> outbox.inPrivateQueues() == 0);
          assertThat(relay.count("adopted")).isEqualTo(2);
          assertThat(outbox.counter(1600, "publishedOrders")).isPositive();
        }
      }
    }
  }
}
