package io.seckill.bench.baseline;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.MessageProperties;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.Outbox;
import io.seckill.common.broker.BrokerTopology;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.args.ListDirection;

/**
 * The baseline of the relay: many threads; each moves one order to its own list, publishes it,
 * waits for its confirm, removes it, and only then takes the next. It has one connection per
 * partition, like the relay. It reads the prepared lists, which no relay reads.
 */
public final class OneByOneRelay {

  public static final int THREADS = 20;
  private static final long CONFIRM_LIMIT_MS = 10_000;

  private final UnifiedJedis redis;
  private final List<Integer> partitions;

  /**
   * @param partitions the threads are distributed evenly over these
   */
  public OneByOneRelay(UnifiedJedis redis, List<Integer> partitions) {
    this.redis = redis;
    this.partitions = List.copyOf(partitions);
  }

  /**
   * Runs until the time is over or the lists are empty.
   *
   * @return the moved orders
   */
  public ManyThreads.Result run(Lab lab, Duration duration) throws IOException, TimeoutException {
    List<Connection> connections = new ArrayList<>();
    try {
      for (int partition : partitions) {
        connections.add(Lab.broker(lab.vhost()).newConnection("one by one " + partition));
      }
      return ManyThreads.run(THREADS, duration, thread -> mover(connections, thread));
    } finally {
      for (Connection connection : connections) {
        connection.close();
      }
    }
  }

  private ManyThreads.Work mover(List<Connection> connections, int thread) throws IOException {
    int lane = thread % partitions.size();
    int partition = partitions.get(lane);
    Channel channel = connections.get(lane).createChannel();
    channel.confirmSelect();
    String prepared = Outbox.prepared(partition);
    String own = prepared + ":" + thread;
    return () -> move(channel, partition, prepared, own);
  }

  private boolean move(Channel channel, int partition, String prepared, String own)
      throws IOException, InterruptedException, TimeoutException {
    String order = redis.lmove(prepared, own, ListDirection.RIGHT, ListDirection.LEFT);
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
