package io.seckill.relay.publish;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import io.seckill.common.broker.BrokerAddresses;
import java.io.IOException;

/** Forbidden behaviour of a link; each method replaces the product's method of the same name. */
public final class MutantLink {

  private MutantLink() {}

  /** Lets the client reconnect automatically after a short time. */
  public static void setAutomaticRecoveryEnabled(BrokerAddresses factory, boolean enabled) {
    factory.setAutomaticRecoveryEnabled(!enabled);
    factory.setNetworkRecoveryInterval(100);
  }

  /** Publishes without the mandatory flag. */
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

  /** Ignores a return, so that the ack after it counts as a confirm. */
  static void returned(UnconfirmedWindow window, String messageId, String reason) {}
}
