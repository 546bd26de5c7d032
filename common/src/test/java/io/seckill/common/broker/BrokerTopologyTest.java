package io.seckill.common.broker;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BrokerTopologyTest {

  private final Map<Object, Object> argumentsByQueue = new HashMap<>();
  private final Channel channel =
      (Channel)
          Proxy.newProxyInstance(
              Channel.class.getClassLoader(),
              new Class<?>[] {Channel.class},
              (proxy, method, args) -> {
                if (method.getName().equals("queueDeclare")) {
                  assertThat(args).as("durable, not exclusive, kept").contains(true, false, false);
                  argumentsByQueue.put(args[0], args[4]);
                }
                return null;
              });

  /** An argument that is missing loses orders, or stores those of a SKU in no order. */
  @Test
  void declaresQueuesThatLoseNothing() throws IOException {
    BrokerTopology.declare(channel);

    assertThat(argumentsByQueue).hasSize(1 + BrokerTopology.ORDER_QUEUES);
    assertThat(argumentsByQueue.remove(BrokerTopology.DEAD_QUEUE))
        .isEqualTo(Map.of("x-queue-type", "quorum", "x-delivery-limit", 1_000_000));
    assertThat(argumentsByQueue.values())
        .containsOnly(
            Map.of(
                "x-queue-type", "quorum",
                "x-single-active-consumer", true,
                "x-delivery-limit", 1_000_000,
                "x-dead-letter-exchange", "seckill.dead",
                "x-dead-letter-routing-key", "dead",
                "x-dead-letter-strategy", "at-least-once",
                "x-overflow", "reject-publish"));
  }
}
