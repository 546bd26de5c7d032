package io.seckill.relay.publish;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ConnectionFactory;
import java.io.IOException;

/** What a link must never do; mutations have it done in place of the method of the same name. */
public final class MutantLink {

  private MutantLink() {}

  /** Lets the client connect again by itself, and soon. */
  static void setAutomaticRecoveryEnabled(ConnectionFactory factory, boolean enabled) {
    factory.setAutomaticRecoveryEnabled(!enabled);
    factory.setNetworkRecoveryInterval(100);
  }

  /** Publishes without mandatory. */
  static void basicPublish(
      Channel channel,
      String exchange,
      String routingKey,
      boolean mandatory,
      BasicProperties properties,
      byte[] body)
      throws IOException {
    channel.basicPublish(exchange, routingKey, !mandatory, properties, body);
  }

  /** Takes no notice of a return, so that the ack behind it counts. */
  static void returned(UnconfirmedWindow window, String messageId, String reason) {}
}
