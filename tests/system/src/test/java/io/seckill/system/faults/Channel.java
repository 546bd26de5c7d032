package io.seckill.system.faults;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How the gateways of a lab are set up.
 *
 * @param name value of {@code seckill.admission.channel}
 * @param durableIn value of {@code seckill.admission.durable-in}
 */
public record Channel(String name, String durableIn) {

  static final Channel AS_SHIPPED = new Channel("relay", "redis");

  /** The channel that a test asks for. */
  static Channel of(Class<?> test) {
    @Nullable OnChannel asked = test.getAnnotation(OnChannel.class);
    return asked == null ? AS_SHIPPED : new Channel(asked.value(), asked.durableIn());
  }

  boolean isDirect() {
    return name.equals("direct");
  }

  boolean isDurableInBroker() {
    return durableIn.equals("broker");
  }

  /** Settings of one gateway, as environment variables; its lanes are named after the gateway. */
  Map<String, String> environment(String gateway, String brokerUrl) {
    return Map.of(
        "HOSTNAME", gateway,
        "SECKILL_BROKER_URLS", brokerUrl,
        "SECKILL_ADMISSION_CHANNEL", name,
        "SECKILL_ADMISSION_DURABLEIN", durableIn,
        "SECKILL_ADMISSION_REPLICAS", durableIn.equals("replicas") ? "1" : "0");
  }
}
