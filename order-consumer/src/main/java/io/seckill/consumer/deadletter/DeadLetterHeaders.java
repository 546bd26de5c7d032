package io.seckill.consumer.deadletter;

import com.rabbitmq.client.GetResponse;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderLines;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Headers of messages in the dead queue, and of a replayed order, beside those that relays write,
 * too ({@link BrokerTopology}).
 */
public final class DeadLetterHeaders {

  /**
   * Integer: deliveries that failed so far. A replay copies it to {@code seckill.orders}, so that
   * the count continues.
   */
  public static final String ATTEMPTS = "x-seckill-attempts";

  /** Long, Unix ms. A replay copies it as well. */
  public static final String FIRST_FAILED_AT = "x-seckill-first-failed-at";

  /** Long, Unix ms. */
  public static final String LAST_FAILED_AT = "x-seckill-last-failed-at";

  private static final int MAX_ATTEMPTS = 1_000_000;

  private DeadLetterHeaders() {}

  static Map<String, Object> of(DeadLetter letter) {
    Map<String, Object> headers = new HashMap<>();
    headers.put(BrokerTopology.REASON_HEADER, letter.reason().name());
    headers.put(BrokerTopology.DETAIL_HEADER, letter.detail());
    headers.put(ATTEMPTS, letter.attempts());
    headers.put(FIRST_FAILED_AT, letter.firstFailedAt());
    headers.put(LAST_FAILED_AT, letter.lastFailedAt());
    if (letter.routingKey() != null) {
      headers.put(BrokerTopology.ROUTING_KEY_HEADER, letter.routingKey());
    }
    return headers;
  }

  /**
   * Reads a message of the dead queue; its headers may be missing or wrong. The broker drops a
   * message as it is, with all its orders; each of them is a dead letter of its own.
   */
  static List<DeadLetter> readAll(GetResponse message) {
    DeadLetter whole = read(message);
    return whole.reason() != DeadLetterReason.DROPPED_BY_BROKER
        ? List.of(whole)
        : OrderLines.split(whole.payload()).stream().map(whole::of).toList();
  }

  private static DeadLetter read(GetResponse message) {
    Map<String, Object> headers = message.getProps().getHeaders();
    if (headers == null) {
      headers = Map.of();
    }
    long now = System.currentTimeMillis();
    return new DeadLetter(
        message.getBody(),
        DeadLetter.orderIn(message.getBody()),
        routingKey(headers),
        reason(headers),
        detail(headers),
        (int) Math.min(MAX_ATTEMPTS, Math.max(1, number(headers, ATTEMPTS, 1))),
        time(number(headers, FIRST_FAILED_AT, now), now),
        time(number(headers, LAST_FAILED_AT, now), now));
  }

  /** Null for any other key: a replay with it would not reach an order queue. */
  private static @Nullable String routingKey(Map<String, Object> headers) {
    String key = String.valueOf(headers.get(BrokerTopology.ROUTING_KEY_HEADER));
    return BrokerTopology.isRoutingKey(key) ? key : null;
  }

  private static DeadLetterReason reason(Map<String, Object> headers) {
    String text = String.valueOf(headers.get(BrokerTopology.REASON_HEADER));
    return Arrays.stream(DeadLetterReason.values())
        .filter(reason -> reason.name().equals(text))
        .findFirst()
        .orElse(DeadLetterReason.DROPPED_BY_BROKER);
  }

  private static String detail(Map<String, Object> headers) {
    Object detail = headers.get(BrokerTopology.DETAIL_HEADER);
    return String.valueOf(
        detail != null ? detail : headers.getOrDefault("x-first-death-reason", ""));
  }

  /** A numeric header; a header of another type counts as absent. */
  public static long number(@Nullable Map<String, Object> headers, String name, long otherwise) {
    return headers != null && headers.get(name) instanceof Number number
        ? number.longValue()
        : otherwise;
  }

  /** A time that a DATETIME can hold: one before 1970, or over a day ahead, is replaced by now. */
  private static long time(long epochMs, long now) {
    return epochMs < 0 || epochMs > now + 86_400_000L ? now : epochMs;
  }
}
