package io.seckill.relay.lane;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.testing.RabbitServer;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.RedisDatabase;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** The outboxes and queues of one test of lanes: a Redis database and a vhost of its own. */
@ExtendWith(TestServers.class)
abstract class LaneFixture {

  /** Of partition 0. */
  static final long SKU = 1600;

  final RedisServer redisServer;
  final RabbitServer rabbitServer;
  final RedisDatabase redis;
  final RabbitVhost rabbit;
  final TestOutbox outbox;
  final TestBroker broker;

  /** On the shared servers; the test's broker client consumes from all queues. */
  LaneFixture() {
    this(TestServers.redis(), TestServers.rabbit());
    broker.consume();
  }

  /** On these servers; the test's broker client consumes nothing yet. */
  LaneFixture(RedisServer redisServer, RabbitServer rabbitServer) {
    this.redisServer = redisServer;
    this.rabbitServer = rabbitServer;
    this.redis = redisServer.newDatabase();
    this.rabbit = rabbitServer.newVhost();
    this.outbox = new TestOutbox(redis.url());
    this.broker = TestBroker.watching(rabbit.url());
  }

  @AfterEach
  void disconnect() {
    outbox.close();
    broker.close();
    rabbit.delete();
  }

  TestRelay start() {
    return start(TestRelay.Tuning.DEFAULT);
  }

  TestRelay start(TestRelay.Tuning tuning) {
    return TestRelay.start(redis.url(), rabbit.url(), tuning);
  }

  static void awaitAll(TestRelay relay, LaneState state) {
    eventually().until(() -> relay.lanes().stream().allMatch(lane -> lane.state() == state));
  }

  /** Each order is delivered, no other one, and none is left in Redis. */
  void everythingArrives(List<String> admitted) {
    everythingArrives(broker, admitted);
  }

  void everythingArrives(TestBroker broker, List<String> admitted) {
    eventually("orders delivered").until(() -> broker.seen() == admitted.size());
    assertThat(broker.deliveries()).containsOnlyKeys(admitted);
    nothingIsLeft();
  }

  /** What was published waits in the queues until now. */
  void everythingIsStored(List<String> admitted) {
    nothingIsLeft();
    broker.consume();
    everythingArrives(admitted);
  }

  void nothingIsLeft() {
    eventually()
        .ignoreExceptionsInstanceOf(JedisConnectionException.class) // pooled before a restart
        .until(() -> outbox.waiting() == 0 && outbox.inPrivateQueues() == 0);
  }
}
