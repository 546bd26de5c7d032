package io.seckill.gateway.admission;

import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Looks at the settings of Redis that the sale relies on, at the start and whenever Redis is
 * another one. A wrong one costs memory or, at worst, orders; it is reported and shown as a metric,
 * not refused: a sale under way must not end because of it.
 */
final class ServerSettings {

  private static final Logger log = LoggerFactory.getLogger(ServerSettings.class);

  /**
   * The longest order record; a hash with a longer value is no longer packed, at ten times the
   * size.
   */
  private static final int MIN_LISTPACK_VALUE = 128;

  private final UnifiedJedis redis;
  private volatile int wrong;

  ServerSettings(UnifiedJedis redis) {
    this.redis = redis;
  }

  /** How many settings were found wrong by the last {@link #check}. */
  int wrong() {
    return wrong;
  }

  /** Reports what is wrong; a server that does not tell its settings passes. */
  void check() {
    int found = 0;
    try {
      Map<String, String> config = redis.configGet("hash-max-listpack-value");
      String packed = config.get("hash-max-listpack-value");
      if (packed != null && Long.parseLong(packed) < MIN_LISTPACK_VALUE) {
        found++;
        log.error(
            "redis: hash-max-listpack-value is {}, orders need {}", packed, MIN_LISTPACK_VALUE);
      }
      String policy = redis.configGet("maxmemory-policy").get("maxmemory-policy");
      if (policy != null && !policy.equals("noeviction")) {
        found++;
        log.error(
            "redis: maxmemory-policy is {}, it must be noeviction: orders would vanish", policy);
      }
    } catch (JedisDataException e) {
      log.warn("redis does not tell its settings: {}", e.getMessage());
    }
    wrong = found;
  }
}
