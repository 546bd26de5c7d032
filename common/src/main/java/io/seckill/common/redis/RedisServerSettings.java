package io.seckill.common.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * The settings of a Redis server on which a sale cannot rely, one sentence each. The answer
 * "queued" promises that an order survives a power failure, so each write must be on disk before
 * Redis replies.
 *
 * @param dangers settings with which Redis may lose orders
 * @param costs settings with which Redis needs more memory than it should
 */
public record RedisServerSettings(List<String> dangers, List<String> costs) {

  /**
   * Length of the longest order record, in bytes. Redis does not pack a hash with a value above its
   * limit; the hash is then ten times as large.
   */
  private static final int MIN_LISTPACK_VALUE = 128;

  /**
   * Queries the server. One that does not report its settings passes.
   *
   * @param replicas that must have an order before "queued" is answered
   * @throws redis.clients.jedis.exceptions.JedisException when Redis does not answer
   */
  static RedisServerSettings of(Jedis server, int replicas) {
    try {
      return of(
          server.configGet(
              "maxmemory-policy",
              "appendonly",
              "appendfsync",
              "min-replicas-to-write",
              "hash-max-listpack-value"),
          replicas);
    } catch (JedisDataException e) {
      return new RedisServerSettings(List.of(), List.of());
    }
  }

  static RedisServerSettings of(Map<String, String> settings, int replicas) {
    List<String> dangers = new ArrayList<>();
    List<String> costs = new ArrayList<>();
    String policy = settings.get("maxmemory-policy");
    if (policy != null && !policy.equals("noeviction")) {
      dangers.add("maxmemory-policy is " + policy + ", it must be noeviction");
    }
    String syncs = settings.get("appendfsync");
    if ("no".equals(settings.get("appendonly"))) {
      dangers.add("appendonly is no, it must be yes");
    } else if (syncs != null && !syncs.equals("always")) {
      dangers.add("appendfsync is " + syncs + ", it must be always");
    }
    String connected = settings.get("min-replicas-to-write");
    if (connected != null && Integer.parseInt(connected) < replicas) {
      dangers.add("min-replicas-to-write is " + connected + ", it must be at least " + replicas);
    }
    String packed = settings.get("hash-max-listpack-value");
    if (packed != null && Long.parseLong(packed) < MIN_LISTPACK_VALUE) {
      costs.add("hash-max-listpack-value is " + packed + ", orders need " + MIN_LISTPACK_VALUE);
    }
    return new RedisServerSettings(List.copyOf(dangers), List.copyOf(costs));
  }
}
