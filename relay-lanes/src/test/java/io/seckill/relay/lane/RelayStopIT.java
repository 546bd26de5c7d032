package io.seckill.relay.lane;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.redis.RedisKeys;
import io.seckill.relay.lane.TestRelay.Tuning;
import io.seckill.testing.TcpProxy;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.resps.Tuple;

class RelayStopIT extends LaneFixture {

  @Test
  void drainsItsWindowsSoThatNothingIsSentTwice() {
    List<String> admitted = outbox.admit(20_000, TestOutbox.skusOfEveryPartition());
    TestRelay first = start(Tuning.PATIENT);
    eventually().until(() -> first.count("settled") > 1_000);
    first.close();
    assertThat(outbox.inPrivateQueues()).isZero();
    assertThat(outbox.waiting()).isEqualTo(20_000 - first.count("settled"));

    try (TestRelay second = start(Tuning.PATIENT)) {
      eventually().until(() -> broker.seen() == 20_000);
      assertThat(broker.deliveries()).containsOnlyKeys(admitted);
      assertThat(broker.duplicates()).isZero();
      assertThat(second.count("adopted")).isZero();
    }
  }

  @Tag("proof")
  @Test
  void stopsWithinTheDrainTimeoutWhileTheBrokerIsSilent() throws Exception {
    Tuning tuning = // a link that is silent for so long is in order
        Tuning.PATIENT.withConfirmTimeout(Duration.ofSeconds(10)).withLease(Tuning.DEFAULT.lease());
    try (TcpProxy proxy = TcpProxy.to(rabbitServer)) {
      TestRelay relay = TestRelay.start(redis.url(), rabbit.via(proxy).url(), tuning);
      eventually().until(() -> relay.lane(0).state() == LaneState.RUNNING);
      proxy.dropToServer(true);
      List<String> admitted = outbox.admit(10, SKU);
      eventually().until(() -> relay.lane(0).inFlight() == 10);

      relay.close(); // while the broker is still silent
      assertThat(outbox.inPrivateQueues()).isEqualTo(10);
      proxy.heal();

      try (TestRelay other = start(Tuning.PATIENT)) {
        eventually().until(() -> broker.seen() == 10);
        assertThat(other.count("adopted")).isEqualTo(10);
        assertThat(broker.deliveries()).containsOnlyKeys(admitted);
        assertThat(broker.duplicates()).isZero();
      }
    }
  }

  @Test
  void releasesItsLeasesSoThatOthersNeedNotWait() {
    TestRelay relay = start();
    eventually().until(() -> relay.lane(0).state() == LaneState.RUNNING);
    relay.close();

    for (int partition = 0; partition < 16; partition++) {
      List<Tuple> lanes = outbox.redis().zrangeWithScores(RedisKeys.lanes(partition), 0, -1);
      assertThat(lanes).allMatch(lane -> lane.getScore() < 0);
    }
    assertThat(relay.lanes()).allMatch(lane -> lane.state() == LaneState.STOPPED);
  }

  @Test
  void stopsAtOnceWhenNeitherServerIsThere() {
    TestRelay relay = TestRelay.start("redis://127.0.0.1:1", "amqp://a:b@127.0.0.1:1/x");
    eventually().until(() -> relay.lane(0).state() == LaneState.BROKER_UNAVAILABLE);
    relay.close();
    assertThat(relay.lanes()).allMatch(lane -> lane.state() == LaneState.STOPPED);
  }
}
