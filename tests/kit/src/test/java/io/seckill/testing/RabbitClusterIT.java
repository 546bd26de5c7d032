package io.seckill.testing;

import static io.seckill.testing.Eventually.SOON;
import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.MessageProperties;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("proof")
@ChildProcessesOnly
class RabbitClusterIT {

  private static final String QUEUE = "orders";

  private static RabbitCluster cluster;
  private RabbitVhost vhost;

  @BeforeAll
  static void startThreeNodes() {
    cluster = RabbitCluster.start();
  }

  @AfterAll
  static void closeThem() {
    cluster.close();
  }

  @BeforeEach
  void publishOneOrder() throws Exception {
    cluster.heal();
    vhost = cluster.newVhost();
    publish(cluster.nodes().get(0));
    cluster.putQueuesOnDisk();
  }

  @Test
  void givesAQueueThreeMembersAndServesItOnEachNode() throws Exception {
    assertThat(cluster.members(vhost.name(), QUEUE)).containsAll(cluster.nodes()).hasSize(3);
    for (RabbitServer node : cluster.nodes()) {
      publish(node);
    }

    awaitOrders(4);
    assertThat(vhost.url().split(",")).containsExactlyElementsOf(cluster.urls(vhost.name()));
  }

  @Test
  void movesTheLeaderOfAQueue() {
    for (RabbitServer node : cluster.nodes()) {
      cluster.moveLeader(vhost.name(), QUEUE, node);

      assertThat(cluster.leaderOf(vhost.name(), QUEUE)).isSameAs(node);
    }
  }

  @Test
  void goesOnWithoutANodeAndTakesItBack() throws Exception {
    RabbitServer leader = cluster.leaderOf(vhost.name(), QUEUE);
    leader.kill();
    eventually().until(() -> cluster.leaderOf(vhost.name(), QUEUE) != leader);
    publish(cluster.answering());

    cluster.heal();
    awaitOrders(2);
    publish(leader);
  }

  @Test
  void keepsConfirmedOrdersOverAKillOfEveryNode() throws Exception {
    cluster.nodes().forEach(RabbitServer::kill);
    cluster.heal();

    awaitOrders(1);
  }

  @Test
  void pausesANodeThatIsCutOffAndTakesItBack() throws Exception {
    RabbitServer leader = cluster.leaderOf(vhost.name(), QUEUE);
    cluster.partition(leader);
    eventually().until(() -> !accepts(leader));
    eventually()
        .ignoreException(
            IllegalStateException.class) // a node that lost others may not list the queue
        .until(() -> cluster.leaderOf(vhost.name(), QUEUE) != leader);
    publish(cluster.answering());

    cluster.healPartition();
    eventually().until(() -> accepts(leader));
    cluster.heal();
    awaitOrders(2);
  }

  private void awaitOrders(long count) {
    eventually().untilAsserted(() -> assertThat(vhost.queueDepth(QUEUE).ready()).isEqualTo(count));
  }

  private static boolean accepts(RabbitServer node) {
    try {
      node.handshake();
      return true;
    } catch (Exception e) {
      return false;
    }
  }

  private void publish(RabbitServer node) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(node.url(vhost.name()));
    try (Connection connection = factory.newConnection();
        Channel channel = connection.createChannel()) {
      channel.confirmSelect();
      channel.queueDeclare(QUEUE, true, false, false, Map.of("x-queue-type", "quorum"));
      channel.basicPublish(
          "", QUEUE, MessageProperties.PERSISTENT_BASIC, "order".getBytes(StandardCharsets.UTF_8));
      channel.waitForConfirmsOrDie(SOON.toMillis());
    }
  }
}
