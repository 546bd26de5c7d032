package io.seckill.common.redis;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

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
}
