package io.seckill.bench.yardstick;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.MessageProperties;
import io.seckill.bench.lab.Lab;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.redis.RedisKeys;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.args.ListDirection;

/**
 * The obvious relay: many threads, each takes one order into a list of its own, publishes it, waits
 * for its confirm, removes it, and only then takes the next.
 */
public final class OneByOneRelay {

  public static final int THREADS = 20;
  private static final long CONFIRM_LIMIT_MS = 10_000;

  private final UnifiedJedis redis;
  private final int partition;

  /**
   * @param partition whose outbox it empties
   */
  public OneByOneRelay(UnifiedJedis redis, int partition) {
    this.redis = redis;
    this.partition = partition;
  }

  /**
   * Runs until the time is over or the outbox is empty.
   *
   * @return orders per second
   */
  public double perSecond(Lab lab, Duration duration) throws IOException, TimeoutException {
    try (Connection connection = Lab.broker(lab.vhost()).newConnection("one by one")) {
      return ManyThreads.perSecond(THREADS, duration, thread -> mover(connection, thread));
    }
  }

  private ManyThreads.Work mover(Connection connection, int thread) throws IOException {
    Channel channel = connection.createChannel();
    channel.confirmSelect();
    String outbox = RedisKeys.outbox(partition);
    String own = outbox + ":one-by-one:" + thread;
    return () -> move(channel, outbox, own);
  }

  private boolean move(Channel channel, String outbox, String own)
      throws IOException, InterruptedException, TimeoutException {
    String order = redis.lmove(outbox, own, ListDirection.RIGHT, ListDirection.LEFT);
    if (order == null) {
      return false;
    }
    channel.basicPublish(
        BrokerTopology.ORDERS_EXCHANGE,
        BrokerTopology.routingKey(partition),
        true,
        MessageProperties.PERSISTENT_BASIC,
        order.getBytes(StandardCharsets.UTF_8));
    channel.waitForConfirmsOrDie(CONFIRM_LIMIT_MS);
    redis.lrem(own, -1, order);
    return true;
  }
}
