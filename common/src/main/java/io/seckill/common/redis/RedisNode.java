package io.seckill.common.redis;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What one server says of itself.
 *
 * @param address host:port
 * @param info fields of INFO by name; empty when the server did not answer
 */
public record RedisNode(String address, Map<String, String> info, RedisServerSettings settings) {

  static RedisNode unavailable(String address) {
    return new RedisNode(address, Map.of(), new RedisServerSettings(List.of(), List.of()));
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
