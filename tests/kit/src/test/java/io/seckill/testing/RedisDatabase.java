package io.seckill.testing;

import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisSettings;
import redis.clients.jedis.UnifiedJedis;

/**
 * One database of a Redis server.
 *
 * @param number the database index, as in SELECT
 */
public record RedisDatabase(String host, int port, int number) {

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
    return RedisClients.open(RedisSettings.single(url()), "test");
  }

  /** The same database, reached through a proxy. */
  public RedisDatabase via(TcpProxy proxy) {
    return new RedisDatabase(proxy.host(), proxy.port(), number);
  }
}
