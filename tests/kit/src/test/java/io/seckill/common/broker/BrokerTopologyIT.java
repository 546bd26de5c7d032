package io.seckill.common.broker;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.GetResponse;
import com.rabbitmq.client.MessageProperties;
import io.seckill.common.order.Partition;
import io.seckill.testing.Eventually;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@Tag("proof")
@ExtendWith(TestServers.class)
class BrokerTopologyIT {

  private Connection connection;

  @BeforeEach
  void connect(RabbitServer rabbit) throws Exception {
    connection = rabbit.newVhost().connect();
  }

  @AfterEach
  void disconnect() throws IOException {
    connection.close();
  }

  @Test
  void mayBeDeclaredByEveryServiceAtEveryStart() throws Exception {
    try (Channel channel = connection.createChannel()) {
      BrokerTopology.declare(channel);
      BrokerTopology.declare(channel);

      assertThat(channel.isOpen()).isTrue();
    }
  }

  @Test
  void routesEachPartitionToItsQueue() throws Exception {
    try (Channel channel = connection.createChannel()) {
      BrokerTopology.declare(channel);
      channel.confirmSelect();
      for (int partition = 0; partition < Partition.COUNT; partition++) {
        channel.basicPublish(
            BrokerTopology.ORDERS_EXCHANGE,
            BrokerTopology.routingKey(partition),
            MessageProperties.PERSISTENT_BASIC,
            new byte[] {(byte) partition});
      }
      channel.waitForConfirmsOrDie(Eventually.SOON.toMillis());

      for (int queue = 0; queue < BrokerTopology.ORDER_QUEUES; queue++) {
        String name = BrokerTopology.orderQueue(queue);
        eventually()
            .until(
                () -> channel.queueDeclarePassive(name).getMessageCount(),
                count -> count == Partition.COUNT / BrokerTopology.ORDER_QUEUES);
      }
    }
  }

  @Test
  void refusesAQueueOfTheSameNameThatIsNotDurableInTheSameWay() throws Exception {
    Channel channel = connection.createChannel();
    channel.queueDeclare(BrokerTopology.DEAD_QUEUE, true, false, false, Map.of());

    assertThatThrownBy(() -> BrokerTopology.declare(channel))
        .isInstanceOf(IOException.class)
        .hasNoCause()
        .hasMessageContaining("docs/operations.md")
        .hasMessageContaining(BrokerTopology.DEAD_QUEUE);
    assertThat(channel.isOpen()).isFalse();
  }

  /** From RabbitMQ 4.0 on, a quorum queue drops a message after 20 deliveries by default. */
  @Test
  void keepsADeadLetterHoweverOftenItIsRequeued() throws Exception {
    try (Channel channel = connection.createChannel()) {
      BrokerTopology.declare(channel);
      channel.confirmSelect();
      channel.basicPublish(
          BrokerTopology.DEAD_EXCHANGE,
          BrokerTopology.DEAD_ROUTING_KEY,
          MessageProperties.PERSISTENT_BASIC,
          new byte[] {42});
      channel.waitForConfirmsOrDie(Eventually.SOON.toMillis());

      for (int i = 0; i < 50; i++) {
        channel.basicReject(next(channel).getEnvelope().getDeliveryTag(), true);
      }

      assertThat(next(channel).getBody()).containsExactly(42);
    }
  }

  private static GetResponse next(Channel channel) {
    return eventually()
        .until(() -> channel.basicGet(BrokerTopology.DEAD_QUEUE, false), Objects::nonNull);
  }
}
