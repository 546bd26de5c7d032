package io.seckill.consumer.payment;

import com.rabbitmq.client.Channel;
import io.seckill.common.order.UnreadableMessageException;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.rabbit.listener.api.ChannelAwareMessageListener;
import org.springframework.stereotype.Component;

/**
 * Expires the orders of a message whose time is over. Each delivery is settled by itself and never
 * requeued, so that a failure never causes a hot loop: when MySQL is unavailable or the message is
 * unreadable, the sweep finds the orders by their rows.
 */
@Component
class ExpiryListener implements ChannelAwareMessageListener {

  private static final Logger log = LoggerFactory.getLogger(ExpiryListener.class);

  private final Expiry expiry;

  ExpiryListener(Expiry expiry) {
    this.expiry = expiry;
  }

  @Override
  public void onMessage(Message message, @Nullable Channel channel) throws IOException {
    if (channel == null) {
      throw new IllegalStateException("manual acknowledgement needs the channel");
    }
    long tag = message.getMessageProperties().getDeliveryTag();
    if (isDone(message, tag)) {
      channel.basicAck(tag, false);
    } else {
      channel.basicReject(tag, false);
    }
  }

  private boolean isDone(Message message, long tag) {
    try {
      expiry.expire(ExpiryMessage.decode(message.getBody()).orderIds());
      return true;
    } catch (UnreadableMessageException e) {
      log.error("Dropped an unreadable expiry message, delivery {}: {}", tag, e.getMessage());
      return false;
    } catch (RuntimeException e) {
      log.warn("Left orders of an expiry message to the sweep, delivery {}: {}", tag, e.toString());
      return false;
    }
  }
}
