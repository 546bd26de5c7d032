package io.seckill.testing;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One server of each kind, started by the first call and kept until {@link #close()}; a call after
 * that starts a new one.
 */
final class SharedServers implements AutoCloseable {

  private final Shared<RedisServer> redis = new Shared<>(RedisServer::startShared);
  private final Shared<RabbitServer> rabbit = new Shared<>(RabbitServer::startShared);
  private final Shared<MySqlServer> mysql = new Shared<>(MySqlServer::startShared);

  RedisServer redis() {
    return redis.get();
  }

  RabbitServer rabbit() {
    return rabbit.get();
  }

  MySqlServer mysql() {
    return mysql.get();
  }

  @Override
  public void close() {
    redis.close();
    rabbit.close();
    mysql.close();
  }

  private static final class Shared<T extends TestServer> {

    private final Supplier<T> start;
    private @Nullable T server;

    private Shared(Supplier<T> start) {
      this.start = start;
    }

    private synchronized T get() {
      if (server == null) {
        server = start.get();
      }
      return server;
    }

    private synchronized void close() {
      if (server != null) {
        server.closeShared();
        server = null;
      }
    }
  }
}
