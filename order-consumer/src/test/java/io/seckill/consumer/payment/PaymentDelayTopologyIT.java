package io.seckill.consumer.payment;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.GetResponse;
import com.rabbitmq.client.MessageProperties;
import io.seckill.common.order.OrderId;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** facts.md 25. */
@ExtendWith(TestServers.class)
class PaymentDelayTopologyIT {

  private static final OrderId ORDER = OrderId.of(OrderId.EPOCH_MS + 1, 7, 0, 0);

  private RabbitVhost vhost;
  private Connection connection;
  private Channel channel;

  @BeforeEach
  void connect(RabbitServer rabbit) throws Exception {
    vhost = rabbit.newVhost();
    connection = vhost.connect();
    channel = connection.createChannel();
    channel.confirmSelect();
  }

  @AfterEach
  void disconnect() throws Exception {
    connection.close();
  }

  @Test
  void aMessageArrivesWhenItsDelayIsOverAndNotBefore() throws Exception {
    PaymentDelayTopology topology = new PaymentDelayTopology(Duration.ofSeconds(1));
    topology.declare(channel);

    long sent = System.nanoTime();
    publish(topology, 7);
    GetResponse arrived = awaitExpired();

    assertThat(Duration.ofNanos(System.nanoTime() - sent)).isGreaterThan(Duration.ofMillis(990));
    assertThat(ExpiryMessage.decode(arrived.getBody()))
        .isEqualTo(new ExpiryMessage(7, List.of(ORDER)));
  }

  @Test
  void aShortDelayDoesNotWaitBehindALongOne() throws Exception {
    PaymentDelayTopology longDelay = new PaymentDelayTopology(Duration.ofHours(1));
    PaymentDelayTopology shortDelay = new PaymentDelayTopology(Duration.ofSeconds(1));
    longDelay.declare(channel);
    shortDelay.declare(channel);

    publish(longDelay, 1);
    publish(shortDelay, 2);

    assertThat(ExpiryMessage.decode(awaitExpired().getBody()).skuId()).isEqualTo(2);
  }

  @Test
  void declaringAgainChangesNothing() throws Exception {
    PaymentDelayTopology topology = new PaymentDelayTopology(Duration.ofSeconds(1));

    topology.declare(channel);
    topology.declare(channel);

    assertThat(vhost.queues())
        .contains(PaymentDelayTopology.EXPIRED_QUEUE, "seckill.payment-delay.1000");
  }

  private void publish(PaymentDelayTopology topology, long skuId) throws Exception {
    channel.basicPublish(
        PaymentDelayTopology.EXCHANGE,
        topology.routingKey(),
        true,
        MessageProperties.PERSISTENT_BASIC,
        new ExpiryMessage(skuId, List.of(ORDER)).encode());
    channel.waitForConfirmsOrDie(5_000);
  }

  private GetResponse awaitExpired() {
    List<GetResponse> found = new ArrayList<>();
    eventually()
        .pollInterval(Duration.ofMillis(50))
        .until(
            () -> {
              GetResponse next = channel.basicGet(PaymentDelayTopology.EXPIRED_QUEUE, true);
              return next != null && found.add(next);
            });
    return found.get(0);
  }
}
