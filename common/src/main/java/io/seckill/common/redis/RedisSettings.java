package io.seckill.common.redis;

import static io.seckill.common.settings.SettingChecks.check;
import static io.seckill.common.settings.SettingChecks.isPort;
import static io.seckill.common.settings.SettingChecks.isWithin;
import static io.seckill.common.settings.SettingChecks.uri;

import io.seckill.common.settings.TrustedAuthorities;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How a service reaches Redis; bound from {@code seckill.redis.*}. Absent values take the defaults
 * named here.
 *
 * @param mode single (default), sentinel or cluster
 * @param url {@code redis[s]://[user:password@]host:port[/db]}; in sentinel and cluster mode only
 *     user, password, database and TLS are taken from it. Required
 * @param nodes {@code host:port} of sentinels or of cluster seeds; required in those modes. Of
 *     sentinels with users or TLS of their own {@code redis[s]://[user:password@]host:port}, all
 *     with the same; else they have no user, and TLS as the url says
 * @param master name of the master set; required in sentinel mode
 * @param maxConnections size of the pool, 1..1024, default 16
 * @param socketTimeout longest wait for a reply, also to a blocking command, 20ms..60s, default 1s
 * @param caFile PEM file of the authorities that a {@code rediss} server's certificate must come
 *     from; default those of the Java platform
 */
public record RedisSettings(
    Mode mode,
    String url,
    List<String> nodes,
    @Nullable String master,
    Integer maxConnections,
    Duration socketTimeout,
    @Nullable Path caFile) {

  private static final int DEFAULT_CONNECTIONS = 16;
  private static final Duration DEFAULT_SOCKET_TIMEOUT = Duration.ofSeconds(1);

  public enum Mode {
    SINGLE,
    SENTINEL,
    CLUSTER
  }

  /** Throws IllegalArgumentException naming the property that is missing or out of bounds. */
  @SuppressWarnings("ConstantValue") // Spring's binder passes null for absent values
  public RedisSettings {
    mode = mode == null ? Mode.SINGLE : mode;
    nodes = nodes == null ? List.of() : List.copyOf(nodes);
    maxConnections = maxConnections == null ? DEFAULT_CONNECTIONS : maxConnections;
    socketTimeout = socketTimeout == null ? DEFAULT_SOCKET_TIMEOUT : socketTimeout;
    check(url != null && url.matches("rediss?://.*"), "seckill.redis.url must be redis[s]://...");
    URI address = uri("seckill.redis.url", url);
    check(
        isReadable(address)
            && (mode != Mode.SINGLE || isPort(address.getPort()))
            && address.getPath().matches("(/\\d{0,9})?"),
        "seckill.redis.url must be redis[s]://[user:password@]host:port[/db], with special"
            + " characters of the password as %-codes");
    check(
        mode == Mode.SINGLE || !nodes.isEmpty(), "seckill.redis.nodes must be set in mode " + mode);
    check(
        nodes.stream().map(RedisSettings::access).distinct().count() <= 1
            && nodes.stream().allMatch(node -> access(node).matches("(rediss?://([^@/]+@)?)?"))
            && (mode == Mode.SENTINEL || nodes.stream().allMatch(node -> access(node).isEmpty())),
        "seckill.redis.nodes must be host:port, or in mode SENTINEL redis[s]://[user:password@]"
            + "host:port with the same user, password and TLS");
    check(
        nodes.stream().allMatch(RedisSettings::isReadableNode),
        "seckill.redis.nodes must each have a host and a port, and special characters of a password"
            + " as %-codes");
    check(
        mode != Mode.SENTINEL || (master != null && !master.isBlank()),
        "seckill.redis.master must be set in mode SENTINEL");
    check(
        maxConnections >= 1 && maxConnections <= 1024,
        "seckill.redis.max-connections must be 1..1024");
    check(
        isWithin(socketTimeout, Duration.ofMillis(20), Duration.ofSeconds(60)),
        "seckill.redis.socket-timeout must be 20ms..60s");
    check(
        caFile == null || isTls(url) || nodes.stream().anyMatch(RedisSettings::isTls),
        "seckill.redis.ca-file is of no use without rediss://");
    if (caFile != null) {
      TrustedAuthorities.pkcs12(caFile); // a wrong file stops the start, not the first connection
    }
  }

  /** One Redis server at this address, defaults for all else. */
  public static RedisSettings single(String url) {
    return new RedisSettings(
        Mode.SINGLE, url, List.of(), null, DEFAULT_CONNECTIONS, DEFAULT_SOCKET_TIMEOUT, null);
  }

  public RedisSettings withMaxConnections(int connections) {
    return new RedisSettings(mode, url, nodes, master, connections, socketTimeout, caFile);
  }

  /** Whether Jedis finds a host in the URL, and user and password if there are any. */
  private static boolean isReadable(URI url) {
    return url.getHost() != null
        && (url.getUserInfo() == null || url.getUserInfo().contains(":"))
        && !url.toString().matches(".*[?#].*@.*"); // the rest of a password
  }

  private static boolean isReadableNode(String node) {
    if (node.contains("://")) {
      URI url = uri("seckill.redis.nodes", node);
      return isReadable(url) && isPort(url.getPort());
    }
    uri("seckill.redis.nodes", "redis://" + node); // its host may be null, as of a_b:6379
    return node.matches(".+:\\d{1,5}") && isPort(Integer.parseInt(node.replaceFirst(".*:", "")));
  }

  public RedisSettings withSocketTimeout(Duration timeout) {
    return new RedisSettings(mode, url, nodes, master, maxConnections, timeout, caFile);
  }

  /** The part before the host of a node: scheme, user and password; empty for {@code host:port}. */
  private static String access(String node) {
    return node.substring(0, node.length() - address(node).length());
  }

  /** The {@code host:port} of a node. */
  static String address(String node) {
    return node.replaceFirst(".*[@/]", "");
  }

  /** Whether a server with this URL is reached by TLS only. */
  static boolean isTls(String url) {
    return url.startsWith("rediss:");
  }

  /** Without the password. */
  @Override
  public String toString() {
    return "RedisSettings[" + mode + " " + url.replaceAll("//[^@/]*@", "//***@") + "]";
  }
}
