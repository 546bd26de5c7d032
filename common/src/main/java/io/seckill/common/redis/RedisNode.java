package io.seckill.common.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * One server's report on itself.
 *
 * @param address host:port
 * @param info fields of INFO by name; empty when the server did not answer
 * @param slowWriteSeconds longest of the latest slow writes of the append-only file, if it is less
 *     than a minute old; else 0
 */
public record RedisNode(
    String address,
    Map<String, String> info,
    RedisServerSettings settings,
    double slowWriteSeconds) {

  static RedisNode unavailable(String address) {
    return new RedisNode(address, Map.of(), new RedisServerSettings(List.of(), List.of()), 0);
  }

  public boolean isAvailable() {
    return !info.isEmpty();
  }

  public boolean isPrimary() {
    return "master".equals(info.get("role"));
  }

  /** The id of the data; replicas have the id of their primary. */
  public @Nullable String replicationId() {
    return info.get("master_replid");
  }

  /** Replicas that follow this server and have received its data. */
  public long replicasOnline() {
    return info.entrySet().stream()
        .filter(field -> field.getKey().matches("slave\\d+"))
        .filter(field -> field.getValue().contains("state=online"))
        .count();
  }

  /** A field of INFO; 0 when there is none. */
  public double number(String field) {
    return Double.parseDouble(info.getOrDefault(field, "0"));
  }

  /** Settings with which this server may lose orders, one sentence each, with its address. */
  public List<String> dangers() {
    return settings.dangers().stream().map(this::say).toList();
  }

  /** Settings with which this server needs more memory than it should, as {@link #dangers}. */
  public List<String> costs() {
    return settings.costs().stream().map(this::say).toList();
  }

  private String say(String problem) {
    return (isPrimary() ? "primary " : "replica ") + address + ": " + problem;
  }

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
     * Length of the longest order record, in bytes. Redis does not pack a hash with a value above
     * its limit; the hash is then ten times as large.
     */
    private static final int MIN_LISTPACK_VALUE = 128;

    /**
     * Queries the server. One that does not report its settings passes.
     *
     * @param replicas that must have an order before "queued" is answered
     * @throws redis.clients.jedis.exceptions.JedisException when Redis does not answer
     */
    static RedisServerSettings of(Jedis server, int replicas) {
      List<String> dangers = new ArrayList<>();
      List<String> costs = new ArrayList<>();
      try {
        Map<String, String> settings =
            server.configGet(
                "maxmemory-policy",
                "appendonly",
                "appendfsync",
                "min-replicas-to-write",
                "hash-max-listpack-value");
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
          dangers.add(
              "min-replicas-to-write is " + connected + ", it must be at least " + replicas);
        }
        String packed = settings.get("hash-max-listpack-value");
        if (packed != null && Long.parseLong(packed) < MIN_LISTPACK_VALUE) {
          costs.add("hash-max-listpack-value is " + packed + ", orders need " + MIN_LISTPACK_VALUE);
        }
      } catch (JedisDataException e) {
        return new RedisServerSettings(List.of(), List.of());
      }
      return new RedisServerSettings(List.copyOf(dangers), List.copyOf(costs));
    }
  }
}
