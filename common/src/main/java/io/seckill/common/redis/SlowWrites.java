package io.seckill.common.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Writes of the append-only file, with their fsync, that took a Redis server longer than its {@code
 * latency-monitor-threshold}. Redis's own counter of delayed fsyncs counts none with {@code
 * appendfsync always}.
 */
final class SlowWrites {

  private static final String EVENTS = "aof-";
  private static final double SECONDS = 60;

  private SlowWrites() {}

  /**
   * @param info of the same server
   * @return the longest, in seconds, of the latest of each kind within a minute; 0 without any, and
   *     when the server does not say
   * @throws redis.clients.jedis.exceptions.JedisException when Redis does not answer
   */
  static double of(Jedis server, Map<String, String> info) {
    double now = Double.parseDouble(info.getOrDefault("server_time_usec", "0")) / 1e6;
    try {
      return longest((List<?>) server.sendCommand(Protocol.Command.LATENCY, "LATEST"), now);
    } catch (JedisDataException e) {
      return 0;
    }
  }

  /**
   * @param latest of each event its name, the time in seconds and the length in ms of the latest
   *     one, and the length of the longest
   * @param now in seconds, by the server's clock
   */
  static double longest(List<?> latest, double now) {
    return latest.stream()
        .map(event -> (List<?>) event)
        .filter(event -> text(event.get(0)).startsWith(EVENTS))
        .filter(event -> now - number(event.get(1)) <= SECONDS)
        .mapToDouble(event -> number(event.get(2)) / 1e3)
        .max()
        .orElse(0);
  }

  private static String text(Object value) {
    return value instanceof byte[] bytes
        ? new String(bytes, StandardCharsets.US_ASCII)
        : value.toString();
  }

  private static double number(Object value) {
    return ((Long) value).doubleValue();
  }
}
