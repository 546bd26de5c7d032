package io.seckill.consumer.testing;

import io.seckill.testing.RabbitVhost;
import io.seckill.testing.RedisDatabase;
import io.seckill.testing.SharedApplications;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The service with MySQL alone: Redis receives nothing and the broker is cut off. A request that
 * waits for Redis takes a minute, and fails a test that has less time.
 */
public final class ConsumerAlone implements AutoCloseable {

  private static @Nullable ConsumerAlone shared;

  private final TcpProxy toRedis;
  private final TcpProxy toBroker;
  private final TestConsumer consumer;

  private ConsumerAlone(TcpProxy toRedis, TcpProxy toBroker, TestConsumer consumer) {
    this.toRedis = toRedis;
    this.toBroker = toBroker;
    this.consumer = consumer;
  }

  /** Starts the service on all servers, and then {@link #isolate isolates} it. */
  public static ConsumerAlone start(Map<String, String> properties) {
    try {
      TcpProxy toRedis = TcpProxy.to(TestServers.redis());
      TcpProxy toBroker = TcpProxy.to(TestServers.rabbit());
      RedisDatabase redis = TestServers.redis().newDatabase();
      RabbitVhost vhost = TestServers.rabbit().newVhost();
      Map<String, String> all = new LinkedHashMap<>(properties);
      all.put("seckill.redis.url", redis.via(toRedis).url());
      all.put("seckill.redis.socket-timeout", "60s");
      all.put("seckill.broker.urls", vhost.via(toBroker).url());
      // Each would try twice a second to connect.
      all.put("seckill.intake.enabled", "false");
      all.put("pause.deadLetterDrainer", "1h");
      ConsumerAlone alone =
          new ConsumerAlone(toRedis, toBroker, TestConsumer.start(redis, vhost, all));
      alone.isolate();
      return alone;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The isolated service, started once per test JVM and stopped with it: for tests that look at
   * SKUs of their own only, and call the sweeps themselves.
   */
  public static synchronized ConsumerAlone shared() {
    if (shared == null) {
      shared =
          start(
              Map.of(
                  "spring.datasource.hikari.connection-init-sql", TestConsumer.LONG_LOCK_WAITS,
                  "pause.stockChangeSweeper", "1h",
                  "pause.expirySweeper", "1h",
                  "pause.paymentSweeper", "1h",
                  "pause.paidResultsSweeper", "1h"));
      SharedApplications.add(shared::close);
    }
    return shared;
  }

  public TestConsumer consumer() {
    return consumer;
  }

  public void isolate() {
    toRedis.heal();
    toRedis.dropToServer(true);
    toBroker.cut();
  }

  /** From now on Redis refuses connections, so that a call of it fails at once. */
  public void cutRedis() {
    toRedis.cut();
  }

  public void heal() {
    toRedis.heal();
    toBroker.heal();
  }

  @Override
  public void close() {
    heal();
    consumer.close();
    toRedis.close();
    toBroker.close();
  }
}
