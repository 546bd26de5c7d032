package io.seckill.consumer.deadletter;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.GetResponse;
import io.seckill.common.broker.BrokerTopology;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads messages of the dead queue; their headers may be missing or wrong. */
final class DrainedMessage {

  private static final int MAX_ATTEMPTS = 1_000_000;

  private DrainedMessage() {}

  static DeadLetter of(GetResponse message) {
    BasicProperties properties = message.getProps();
    Map<String, Object> headers =
        properties.getHeaders() == null ? Map.of() : properties.getHeaders();
    long now = System.currentTimeMillis();
    return new DeadLetter(
        message.getBody(),
        DeadLetter.orderIn(message.getBody()),
        routingKey(headers),
        reason(headers),
        detail(headers),
        (int) Math.min(MAX_ATTEMPTS, Math.max(1, number(headers, DeadLetterHeaders.ATTEMPTS, 1))),
        time(number(headers, DeadLetterHeaders.FIRST_FAILED_AT, now), now),
        time(number(headers, DeadLetterHeaders.LAST_FAILED_AT, now), now));
  }

  /** Null for any other key: a replay with it would not reach an order queue. */
  private static @Nullable String routingKey(Map<String, Object> headers) {
    String key = String.valueOf(headers.get(DeadLetterHeaders.ROUTING_KEY));
    return BrokerTopology.isRoutingKey(key) ? key : null;
  }

  private static DeadLetterReason reason(Map<String, Object> headers) {
    String text = String.valueOf(headers.get(DeadLetterHeaders.REASON));
    return Arrays.stream(DeadLetterReason.values())
        .filter(reason -> reason.name().equals(text))
        .findFirst()
        .orElse(DeadLetterReason.DROPPED_BY_BROKER);
  }

  private static String detail(Map<String, Object> headers) {
    Object detail = headers.get(DeadLetterHeaders.DETAIL);
    return String.valueOf(
        detail != null ? detail : headers.getOrDefault("x-first-death-reason", ""));
  }

  private static long number(Map<String, Object> headers, String name, long otherwise) {
    return headers.get(name) instanceof Number number ? number.longValue() : otherwise;
  }

  /** A time that a DATETIME can hold: one before 1970, or over a day ahead, is replaced by now. */
  private static long time(long epochMs, long now) {
    return epochMs < 0 || epochMs > now + 86_400_000L ? now : epochMs;
  }
}
