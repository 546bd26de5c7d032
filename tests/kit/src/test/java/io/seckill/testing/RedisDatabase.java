package io.seckill.testing;

import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisSettings;
import io.seckill.common.redis.RedisSettings.Mode;
import java.time.Duration;
import java.util.List;
import redis.clients.jedis.UnifiedJedis;

/**
 * One database of a Redis server.
 *
 * @param number the database index, as in SELECT
 */
public record RedisDatabase(String host, int port, int number) {

  /** Of a test's own client: reached only by an answer that never comes. */
  private static final Duration SOCKET_TIMEOUT = Duration.ofMinutes(1);

  /** {@code redis://host:port/number}. */
  public String url() {
    return "redis://" + host + ":" + port + "/" + number;
  }

  /** As {@link #url()}, for a user of the ACL. */
  public String url(String user, String password) {
    return "redis://" + user + ":" + password + "@" + host + ":" + port + "/" + number;
  }

  /** A client of this database; the caller closes it. */
  public UnifiedJedis open() {
    return open(url());
  }

  /** As {@link #open()}, of the database at this address. */
  public static UnifiedJedis open(String url) {
    return open(url, SOCKET_TIMEOUT);
  }

  /** As {@link #open(String)}, for tests that wait for the time-out. */
  public static UnifiedJedis open(String url, Duration socketTimeout) {
    return RedisClients.open(
        new RedisSettings(Mode.SINGLE, url, List.of(), null, null, socketTimeout, null), "test");
  }

  /** The same database, reached through a proxy. */
  public RedisDatabase via(TcpProxy proxy) {
    return new RedisDatabase(proxy.host(), proxy.port(), number);
  }
}
