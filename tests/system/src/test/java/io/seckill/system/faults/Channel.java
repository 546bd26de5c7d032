package io.seckill.system.faults;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How the gateways of a lab are set up.
 *
 * @param durableIn value of {@code seckill.admission.durable-in}
 * @param replicas how many must confirm an order where {@code durableIn} is "replicas"
 * @param fallback value of {@code seckill.fallback}, also of the consumers
 */
public record Channel(String durableIn, int replicas, String fallback) {

  static final Channel AS_SHIPPED = new Channel("redis", 1, "off");

  /** The channel that a test asks for. */
  static Channel of(Class<?> test) {
    @Nullable OnChannel asked = test.getAnnotation(OnChannel.class);
    return asked == null
        ? AS_SHIPPED
        : new Channel(asked.durableIn(), asked.replicas(), asked.fallback());
  }

  /** Whether the gateways publish their admissions themselves. */
  boolean isDirect() {
    return durableIn.equals("broker");
  }

  /** Whether MySQL may decide while Redis cannot. */
  boolean hasFallback() {
    return !fallback.equals("off");
  }

  /** Settings of one gateway, as environment variables; its lanes are named after the gateway. */
  Map<String, String> environment(String gateway, String brokerUrl) {
    return Map.of(
        "HOSTNAME", gateway,
        "SECKILL_BROKER_URLS", brokerUrl,
        "SECKILL_BROKER_HEARTBEAT", "10s", // as relays
        "SECKILL_ADMISSION_DURABLEIN", durableIn,
        "SECKILL_FALLBACK", fallback,
        "SECKILL_ADMISSION_REPLICAS",
            durableIn.equals("replicas") ? String.valueOf(replicas) : "0");
  }
}
