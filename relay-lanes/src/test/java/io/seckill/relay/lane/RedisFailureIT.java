package io.seckill.relay.lane;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.redis.RedisKeys;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;

/** An order that Redis has moved is published, whether or not Redis answers. */
class RedisFailureIT extends LaneFixture {

  RedisFailureIT() {
    super(RedisServer.start("appendonly yes", "appendfsync always"), TestServers.rabbit());
    broker.consume();
  }

  @AfterEach
  void stop() {
    redisServer.close();
  }

  /** facts.md 4: the claim was executed, only its answer is lost. */
  @Test
  void publishesAnOrderWhoseClaimWasNotAnswered() throws Exception {
    try (TcpProxy proxy = TcpProxy.to(redisServer);
        TestRelay relay =
            TestRelay.start(redis.via(proxy).url(), rabbit.url(), TestRelay.Tuning.PATIENT)) {
      List<String> admitted = new ArrayList<>();
      eventually("a claim whose answer is lost").until(() -> isClaimed(relay, proxy, admitted));
      assertThat(broker.deliveries()).doesNotContainKey(admitted.get(admitted.size() - 1));

      proxy.heal();
      everythingArrives(admitted);
      assertThat(relay.count("republished")).isEqualTo(1);
    }
  }

  /** Not if a poll ends between the drop and the push: the lane claims nothing more then. */
  private boolean isClaimed(TestRelay relay, TcpProxy proxy, List<String> admitted) {
    proxy.heal();
    awaitAll(relay, LaneState.RUNNING);
    nothingIsLeft();
    proxy.dropToClient(true);
    admitted.addAll(outbox.admit(1, SKU));
    eventually()
        .until(
            () ->
                outbox.inPrivateQueues() == 1
                    || relay.lane(0).state() == LaneState.REDIS_UNAVAILABLE);
    return outbox.inPrivateQueues() == 1;
  }

  /** facts.md 5: by default Jedis waits for ever for the answer to a blocking command. */
  @Tag("proof")
  @Test
  void givesUpALinkToRedisThatIsSilent() throws Exception {
    try (TcpProxy proxy = TcpProxy.to(redisServer);
        TestRelay relay = TestRelay.start(redis.via(proxy).url(), rabbit.url())) {
      awaitAll(relay, LaneState.RUNNING);
      proxy.dropToServer(true);
      proxy.dropToClient(true);
      awaitAll(relay, LaneState.REDIS_UNAVAILABLE);

      List<String> admitted = outbox.admit(20, TestOutbox.skusOfEveryPartition());
      proxy.heal();
      everythingArrives(admitted);
    }
  }

  /** facts.md 6: a full Redis refuses BRPOPLPUSH, but must be drained. */
  @Tag("proof")
  @ParameterizedTest
  @CsvSource({"512, 3000", "1, 300"})
  void drainsAFullRedis(int maxUnconfirmed, int orders) {
    List<String> admitted = outbox.admit(orders - 1, TestOutbox.skusOfEveryPartition());
    String dead = "dead:0:00112233";
    outbox.redis().zadd(RedisKeys.lanes(0), 1, dead);
    admitted.add(outbox.claimLate(dead, SKU));
    outbox.redis().configSet("maxmemory", "1mb");
    try (TestRelay relay = start(TestRelay.Tuning.PATIENT.withMaxUnconfirmed(maxUnconfirmed))) {
      everythingArrives(admitted);
      eventually().until(() -> relay.count("settled") == orders);
      assertThat(relay.count("adopted")).isEqualTo(1);
      assertThat(broker.duplicates()).isZero();

      outbox.redis().configSet("maxmemory", "0");
      admitted.addAll(outbox.admit(10, SKU));
      everythingArrives(admitted);
    }
  }

  /** facts.md 8: Redis loses its scripts at SCRIPT FLUSH, a restart and a failover. */
  @Test
  void loadsItsScriptsAgain() {
    try (TestRelay relay = start(TestRelay.Tuning.PATIENT)) {
      awaitAll(relay, LaneState.RUNNING);
      for (int i = 1; i <= 10; i++) {
        outbox.redis().scriptFlush();
        int expected = i * 100;
        outbox.admit(100, TestOutbox.skusOfEveryPartition());
        eventually().until(() -> broker.seen() == expected);
      }
      eventually().until(() -> relay.count("settled") == 1_000);
      assertThat(broker.duplicates()).isZero();
    }
  }

  @Test
  void goesOnWhenAReadOnlyReplicaIsPromoted() {
    try (TestRelay relay = start()) {
      awaitAll(relay, LaneState.RUNNING);
      List<String> admitted = outbox.admit(1, SKU);
      eventually().until(() -> broker.seen() == 1);
      replicaOf("127.0.0.1", "1");
      awaitAll(relay, LaneState.REDIS_UNAVAILABLE);

      replicaOf("NO", "ONE");
      admitted.addAll(outbox.admit(10, SKU));
      everythingArrives(admitted);
    }
  }

  /** An error reply breaks no connection, but another server may be the master by now. */
  @Test
  void connectsAnewAfterAnErrorReply() {
    replicaOf("127.0.0.1", "1");
    try (TestRelay relay = start()) {
      awaitAll(relay, LaneState.REDIS_UNAVAILABLE);
      List<String> before = connections(relay.lane(0));

      replicaOf("NO", "ONE");
      everythingArrives(outbox.admit(1, SKU));
      assertThat(connections(relay.lane(0))).isNotEmpty().noneMatch(before::contains);
    }
  }

  /** As when Redis executes a BRPOPLPUSH after the lane has given up the connection. */
  @Test
  void publishesALateClaimIntoAQueueInUse() {
    try (TestRelay relay = start()) {
      awaitAll(relay, LaneState.RUNNING);
      outbox.admit(1, SKU);
      eventually().until(() -> relay.count("settled") == 1);
      String token = outbox.redis().zrange(RedisKeys.lanes(0), 0, -1).get(0);

      String late = outbox.claimLate(token, SKU);

      eventually().until(() -> broker.seen() == 2);
      assertThat(broker.deliveries()).containsKey(late);
      eventually().until(() -> outbox.inPrivateQueues() == 0);
    }
  }

  @Test
  void removesAnEntryThatIsNotEvenText() {
    byte[] junk = {'{', (byte) 0xff, (byte) 0xc0, 0, '}'};
    outbox.redis().lpush(RedisKeys.outbox(0).getBytes(StandardCharsets.UTF_8), junk);
    List<String> admitted = outbox.admit(3, SKU);
    try (TestRelay relay = start(TestRelay.Tuning.PATIENT)) {
      everythingArrives(admitted);
      eventually().until(() -> broker.deadLetters().size() == 1);
      assertThat(broker.deadLetters().get(0).getBody()).isEqualTo(junk);
      eventually().until(() -> relay.count("settled") == 4);
    }
  }

  /**
   * Row 9 of docs/proof.md: a foreign key in place of the outbox stops its lane, but no other lane.
   */
  @Test
  void changesNothingWhenTheOutboxIsOfAnotherType() {
    outbox.redis().set(RedisKeys.outbox(0), "foreign");
    List<String> admitted = outbox.admit(10, 1601);
    try (TestRelay relay = start()) {
      eventually().until(() -> broker.seen() == admitted.size());
      eventually().until(() -> relay.lane(0).state() == LaneState.REDIS_UNAVAILABLE);
      assertThat(outbox.redis().get(RedisKeys.outbox(0))).isEqualTo("foreign");

      outbox.redis().del(RedisKeys.outbox(0));
      admitted.addAll(outbox.admit(5, SKU));
      everythingArrives(admitted);
    }
  }

  /** The ids of a lane's connections to Redis. */
  private List<String> connections(LaneStatus lane) {
    byte[] list =
        (byte[]) outbox.redis().executeCommand(new CommandArguments(Command.CLIENT).add("LIST"));
    return new String(list, StandardCharsets.UTF_8)
        .lines()
        .filter(line -> line.contains(" name=" + lane.lane() + " "))
        .map(line -> line.substring(0, line.indexOf(' ')))
        .toList();
  }

  private void replicaOf(String host, String port) {
    outbox.redis().executeCommand(new CommandArguments(Command.REPLICAOF).add(host).add(port));
  }
}
