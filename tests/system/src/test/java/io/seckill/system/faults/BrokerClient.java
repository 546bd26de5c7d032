package io.seckill.system.faults;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.MessageProperties;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.testing.Eventually;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeoutException;

/** The test's own connection to the broker, apart from relays and consumers; for one thread. */
final class BrokerClient implements AutoCloseable {

  private static final long CONFIRM_MS = Eventually.SOON.toMillis();

  private final Connection connection;
  private final Channel channel;

  BrokerClient(LabServers servers) throws IOException {
    connection = servers.vhost().connect();
    channel = connection.createChannel();
    channel.confirmSelect();
  }

  /** The channel on which a test deletes or unbinds. */
  Channel channel() {
    return channel;
  }

  /** Publishes as a relay would, and waits for the confirm. */
  void publish(int partition, String body)
      throws IOException, InterruptedException, TimeoutException {
    BasicProperties persistent = MessageProperties.PERSISTENT_BASIC;
    channel.basicPublish(
        BrokerTopology.ORDERS_EXCHANGE,
        BrokerTopology.routingKey(partition),
        persistent,
        body.getBytes(StandardCharsets.UTF_8));
    channel.waitForConfirmsOrDie(CONFIRM_MS);
  }

  @Override
  public void close() {
    connection.abort(1_000);
  }
}
