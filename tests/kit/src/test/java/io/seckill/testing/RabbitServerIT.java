package io.seckill.testing;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.MessageProperties;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@Tag("proof")
@ExtendWith(TestServers.class)
class RabbitServerIT {

  private static final Duration CONFIRM_WITHIN = Duration.ofSeconds(10);

  private static RabbitServer rabbit;
  private RabbitVhost vhost;

  @BeforeAll
  static void startAnOwnNode() {
    rabbit = RabbitServer.start();
  }

  @AfterAll
  static void closeIt() {
    rabbit.close();
  }

  @BeforeEach
  void takeAVhost() {
    vhost = rabbit.newVhost();
  }

  @Test
  void runsBesideAnotherNode() throws Exception {
    try (RabbitServer other = RabbitServer.start("heartbeat = 7")) {
      assertThat(other.eval("application:get_env(rabbit, heartbeat).")).isEqualTo("{ok,7}");
      assertThat(other.port()).isNotEqualTo(rabbit.port());
      assertThat(other.managementPort()).isNotEqualTo(rabbit.managementPort());
      publishOneOrder(vhost);

      assertThat(vhost.queues()).containsExactly("orders");
      assertThat(other.newVhost().queues()).isEmpty();
      assertThat(other.ctl("list_vhosts")).contains("v1");
    }
  }

  /**
   * The queue is written to disk first: see {@link RabbitServer} on queues younger than a second.
   */
  @Test
  void keepsConfirmedMessagesOverAKill() throws Exception {
    publishOneOrder(vhost);
    rabbit.putQueuesOnDisk();
    publishOneOrder(vhost);
    int port = rabbit.port();
    rabbit.kill();
    assertThatThrownBy(() -> connect(vhost.url())).isInstanceOf(IOException.class);
    rabbit.restart();

    assertThat(rabbit.port()).isEqualTo(port);
    eventually().until(() -> vhost.queueDepth("orders").ready() == 2);
  }

  @Test
  void startsEmptyAfterAWipeAndGetsItsVhostBack() throws Exception {
    publishOneOrder(vhost);
    rabbit.wipe();
    rabbit.restart();
    vhost.recreate();

    assertThat(vhost.queues()).isEmpty();
    publishOneOrder(vhost);
  }

  @Test
  void answersNothingWhileFrozenAndGoesOnAfterwards() throws Exception {
    try (Connection connection = connect(vhost.url());
        Channel channel = connection.createChannel()) {
      channel.confirmSelect();
      declareOrders(channel);
      rabbit.freeze();
      publish(channel);
      assertThatThrownBy(() -> channel.waitForConfirms(500)).isInstanceOf(TimeoutException.class);
      rabbit.thaw();

      assertThat(channel.waitForConfirms(CONFIRM_WITHIN.toMillis())).isTrue();
    }
  }

  @Test
  void blocksPublishersWhileMemoryIsShort() throws Exception {
    assertBlocksPublishers(
        () -> rabbit.setMemoryWatermark(0.0000001), () -> rabbit.setMemoryWatermark(0.4));
  }

  @Test
  void blocksPublishersWhileDiskIsShort() throws Exception {
    assertBlocksPublishers(
        () -> rabbit.setDiskFreeLimit("100000GB"), () -> rabbit.setDiskFreeLimit("1MB"));
  }

  private void assertBlocksPublishers(Runnable raiseAlarm, Runnable endAlarm) throws Exception {
    CountDownLatch blocked = new CountDownLatch(1);
    CountDownLatch unblocked = new CountDownLatch(1);
    try (Connection connection = connect(vhost.url());
        Channel channel = connection.createChannel()) {
      connection.addBlockedListener(reason -> blocked.countDown(), unblocked::countDown);
      declareOrders(channel);
      raiseAlarm.run();
      publish(channel);
      assertThat(blocked.await(30, TimeUnit.SECONDS)).isTrue();
      endAlarm.run();

      assertThat(unblocked.await(30, TimeUnit.SECONDS)).isTrue();
    } finally {
      endAlarm.run();
    }
  }

  @Test
  void refusesMessagesBeyondTheBoundOfAPolicy() throws Exception {
    vhost.setPolicy("bound", "^orders$", "{\"max-length\":1,\"overflow\":\"reject-publish\"}");
    try (Connection connection = connect(vhost.url());
        Channel channel = connection.createChannel()) {
      channel.confirmSelect();
      declareOrders(channel);
      eventually().until(() -> !confirmed(channel));
    }
    vhost.clearPolicy("bound");
    publishOneOrder(vhost);
  }

  @Test
  void closesConnectionsOfOneVhostWithAReason() throws Exception {
    AtomicReference<ShutdownSignalException> end = new AtomicReference<>();
    try (Connection bystander = connect(rabbit.newVhost().url())) {
      connect(vhost.url()).addShutdownListener(end::set);
      vhost.closeConnections("maintenance");

      await().untilAtomic(end, cause -> assertThat(cause).hasMessageContaining("maintenance"));
      assertThat(bystander.isOpen()).isTrue();
    }
  }

  @Test
  void closesConnectionsOfEveryVhost() throws Exception {
    AtomicReference<ShutdownSignalException> end = new AtomicReference<>();
    connect(vhost.url()).addShutdownListener(end::set);

    rabbit.closeConnections("maintenance");

    await().untilAtomic(end, cause -> assertThat(cause).hasMessageContaining("maintenance"));
  }

  @Test
  void countsWhatIsDeliveredAndNotSettled() throws Exception {
    publishOneOrder(vhost);
    try (Connection connection = connect(vhost.url());
        Channel channel = connection.createChannel()) {
      channel.basicGet("orders", false);

      eventually().until(() -> vhost.queueDepth("orders").equals(new QueueDepth(0, 1)));
    }
    eventually().until(() -> vhost.queueDepth("orders").equals(new QueueDepth(1, 0)));
  }

  @Test
  void isReachedThroughAProxy() throws Exception {
    try (TcpProxy proxy = TcpProxy.to(rabbit)) {
      Connection connection = connect(vhost.via(proxy).url());
      assertThat(connection.getPort()).isEqualTo(proxy.port());
      proxy.reset();

      eventually().until(() -> !connection.isOpen());
    }
  }

  private static void publishOneOrder(RabbitVhost vhost) throws Exception {
    try (Connection connection = connect(vhost.url());
        Channel channel = connection.createChannel()) {
      channel.confirmSelect();
      declareOrders(channel);
      assertThat(confirmed(channel)).isTrue();
    }
  }

  private static void declareOrders(Channel channel) throws IOException {
    channel.queueDeclare("orders", true, false, false, Map.of("x-queue-type", "quorum"));
  }

  private static boolean confirmed(Channel channel) throws Exception {
    publish(channel);
    return channel.waitForConfirms(CONFIRM_WITHIN.toMillis());
  }

  private static void publish(Channel channel) throws IOException {
    byte[] body = "order".getBytes(StandardCharsets.UTF_8);
    channel.basicPublish("", "orders", MessageProperties.PERSISTENT_BASIC, body);
  }

  private static Connection connect(String url) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(url);
    factory.setAutomaticRecoveryEnabled(false);
    return factory.newConnection();
  }
}
