package io.seckill.relay.lane;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.seckill.common.redis.RedisSettings;
import io.seckill.common.redis.RedisSettings.Mode;
import io.seckill.relay.lane.TestRelay.Tuning;
import io.seckill.testing.ChildProcessesOnly;
import io.seckill.testing.LoggedLines;
import io.seckill.testing.Ports;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestAuthority;
import io.seckill.testing.TestAuthority.ServerCertificate;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Orders go only to a broker with a valid certificate; otherwise they stay in Redis. */
@Tag("proof")
@ChildProcessesOnly
class RelayTlsIT {

  private static final int WINDOW = 4_096;
  private static final Duration BRIEF = Duration.ofSeconds(1);

  @TempDir private static Path directory;

  private static TestAuthority ours;
  private static TestAuthority another;
  private static RabbitServer rabbitServer;
  private static RedisServer redisServer;
  private static int amqpsPort;
  private static int redissPort;

  private final RabbitVhost rabbit = rabbitServer.newVhost();

  @AutoClose
  private final TestOutbox outbox = new TestOutbox("redis://127.0.0.1:" + redisServer.port());

  @BeforeAll
  static void startServers() {
    ours = TestAuthority.create(directory, "ours");
    another = TestAuthority.create(directory, "another");
    ServerCertificate certificate = ours.issueFor("IP:127.0.0.1");
    amqpsPort = Ports.free();
    rabbitServer = RabbitServer.start(certificate.forRabbit(amqpsPort));
    redissPort = Ports.free();
    redisServer = RedisServer.start(certificate.forRedis(redissPort));
  }

  @AfterAll
  static void stopServers() {
    redisServer.close();
    rabbitServer.close();
  }

  @BeforeEach
  void connect() {
    outbox.redis().flushAll();
  }

  @Test
  void carriesOrdersOverTlsOnBothSides() throws Exception {
    List<String> admitted = outbox.admit(1_000, TestOutbox.skusOfEveryPartition());
    try (TestBroker broker = TestBroker.consuming(rabbit.url());
        TestRelay relay = start(ours)) {
      eventually().until(() -> broker.seen() == admitted.size());
      eventually().until(() -> relay.count("settled") == admitted.size());

      assertThat(broker.deliveries()).containsOnlyKeys(admitted);
      assertThat(redisServer.isRunning()).isTrue();
    }
  }

  @Test
  void keepsTheOrdersWhenTheBrokersCertificateIsOfAnotherAuthority() throws Exception {
    List<String> admitted = outbox.admit(10, TestOutbox.skusOfEveryPartition());
    try (TestBroker broker = TestBroker.consuming(rabbit.url())) {
      // Repeated after a stall: a lane that has gone on for a second counts as running again.
      eventually("one log line per lane").until(this::warningsOfFailingLanes, count -> count == 16);
      assertThat(outbox.waiting()).isEqualTo(admitted.size());
      assertThat(broker.seen()).isZero();

      try (TestRelay relay = start(ours)) {
        eventually().until(() -> broker.seen() == admitted.size());
        assertThat(broker.deliveries()).containsOnlyKeys(admitted);
        assertThat(relay.lanes()).hasSize(16);
      }
    }
  }

  /** Starts a relay whose lanes try again and again; returns the number of their warnings. */
  private long warningsOfFailingLanes() throws Exception {
    LoggedLines lines = LoggedLines.of(LaneStatus.class);
    try (lines;
        TestRelay relay = start(another)) {
      eventually().until(() -> relay.lanes().stream().anyMatch(RelayTlsIT::findsNoPath));
      eventually().until(() -> everyLaneIsFailing(relay));
      await("several attempts of each lane")
          .during(Duration.ofSeconds(2))
          .atMost(Duration.ofMinutes(2))
          .until(() -> everyLaneIsFailing(relay));
    }
    return lines.events().stream().filter(line -> line.getLevel() == Level.WARN).count();
  }

  /** During an alarm the broker goes on with heartbeats, but reads nothing from a publisher. */
  @Test
  void stopsWhileTheBrokerReadsNothing() throws Exception {
    String unread = "x".repeat(8_192);
    for (int i = 0; i < WINDOW; i++) { // more than the buffers of the connection hold
      outbox.admitText(0, unread);
    }
    rabbitServer.setMemoryWatermark(0.0000001);
    try {
      TestRelay relay =
          start(ours, Tuning.DEFAULT.withMaxUnconfirmed(WINDOW).withConfirmTimeout(BRIEF));
      eventually().until(() -> outbox.inPrivateQueues() == WINDOW);
      Thread stop = new Thread(relay::close, "stop");
      stop.start();
      eventually("the stop").until(() -> !stop.isAlive());
    } finally {
      rabbitServer.setMemoryWatermark(0.4);
    }
    assertThat(outbox.inPrivateQueues()).isEqualTo(WINDOW);
  }

  private static boolean findsNoPath(LaneStatus lane) {
    return lane.reason().contains("unable to find valid certification path");
  }

  private static boolean everyLaneIsFailing(TestRelay relay) {
    return relay.lanes().stream().allMatch(lane -> lane.state() == LaneState.BROKER_UNAVAILABLE);
  }

  private TestRelay start(TestAuthority trustedForTheBroker) {
    return start(trustedForTheBroker, Tuning.DEFAULT);
  }

  private TestRelay start(TestAuthority trustedForTheBroker, Tuning tuning) {
    RedisSettings redis =
        new RedisSettings(
            Mode.SINGLE,
            "rediss://127.0.0.1:" + redissPort,
            List.of(),
            null,
            null,
            null,
            ours.certificate());
    String url =
        "amqps://%s:%s@127.0.0.1:%d/%s"
            .formatted(rabbitServer.username(), rabbitServer.password(), amqpsPort, rabbit.name());
    return TestRelay.start(redis, TestRelay.broker(url, trustedForTheBroker.certificate()), tuning);
  }
}
