package io.seckill.relay.lane;

import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.relay.recovery.LeaseSettings;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.RedisDatabase;
import io.seckill.testing.RedisServer;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import redis.clients.jedis.RedisClient;

/**
 * Measures how fast a relay drains a prefilled outbox, against a bare publisher with the same
 * message size, window and number of connections on the same broker. Not part of the build: {@code
 * RelayThroughput <orders> <rounds>}.
 */
final class RelayThroughput {

  private static final int WINDOW = 512;
  private static final int PUBLISHERS = Partition.COUNT;

  private static final TestRelay.Tuning AS_SHIPPED =
      new TestRelay.Tuning(
          WINDOW,
          Duration.ofSeconds(10),
          new LeaseSettings(
              Duration.ofSeconds(6),
              Duration.ofSeconds(1),
              Duration.ofSeconds(10),
              Duration.ofSeconds(60)));

  private final RedisServer redisServer;
  private final RabbitServer rabbitServer;
  private final int orders;
  private double bareCpu;
  private double relayCpu;
  private double redisCpu;

  private RelayThroughput(RedisServer redis, RabbitServer rabbit, int orders) {
    this.redisServer = redis;
    this.rabbitServer = rabbit;
    this.orders = orders;
  }

  public static void main(String[] args) throws Exception {
    try (RedisServer redis = RedisServer.start("appendonly yes", "appendfsync always");
        RabbitServer rabbit = RabbitServer.start()) {
      RelayThroughput measure = new RelayThroughput(redis, rabbit, Integer.parseInt(args[0]));
      for (int round = 0; round < Integer.parseInt(args[1]); round++) {
        double bare = measure.barePublisher();
        double relay = measure.relay();
        System.out.printf(
            "orders %d: bare publisher %.0f/s, relay %.0f/s, ratio %.2f; cpu per order: bare %.1f us,"
                + " relay %.1f us, redis %.1f us; heap %d MB%n",
            measure.orders,
            bare,
            relay,
            relay / bare,
            measure.bareCpu,
            measure.relayCpu,
            measure.redisCpu,
            (Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory()) >> 20);
      }
    }
    System.exit(0);
  }

  private double relay() throws Exception {
    RedisDatabase redis = redisServer.newDatabase();
    RabbitVhost rabbit = rabbitServer.newVhost();
    try (TestOutbox outbox = new TestOutbox(redis.url());
        TestRelay relay = TestRelay.start(redis.url(), rabbit.url(), AS_SHIPPED)) {
      for (long sku : TestOutbox.skusOfEveryPartition()) {
        outbox.preheat(sku);
      }
      for (int done = 0; done < orders; done += 20_000) {
        outbox.admitAside(Math.min(20_000, orders - done), TestOutbox.skusOfEveryPartition());
      }
      await()
          .atMost(Duration.ofMinutes(1))
          .until(() -> relay.lanes().stream().allMatch(l -> l.state() == LaneState.RUNNING));
      double redisBefore = redisCpu(outbox);
      long cpu = cpuNanos();
      long start = System.nanoTime();
      outbox.admitWhatIsAside();
      await()
          .pollInterval(Duration.ofMillis(5))
          .atMost(Duration.ofMinutes(10))
          .until(() -> relay.count("settled") >= orders);
      double rate = orders * 1e9 / (System.nanoTime() - start);
      relayCpu = (cpuNanos() - cpu) / 1e3 / orders;
      redisCpu = (redisCpu(outbox) - redisBefore) * 1e6 / orders;
      System.out.println(
          "  counted " + outbox.counter(1600, "publishedOrders") + " of partition 0");
      purge(rabbit);
      return rate;
    }
  }

  private double barePublisher() throws Exception {
    RabbitVhost rabbit = rabbitServer.newVhost();
    TestBroker.watching(rabbit.url()).close();
    byte[] body;
    RedisDatabase scratch = redisServer.newDatabase();
    try (TestOutbox outbox = new TestOutbox(scratch.url());
        RedisClient redis = RedisClient.create(scratch.url())) {
      outbox.admit(1, 1600);
      body = redis.lindex(RedisKeys.outbox(0), 0).getBytes(StandardCharsets.UTF_8);
    }
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(rabbit.url());
    CountDownLatch ready = new CountDownLatch(PUBLISHERS);
    CountDownLatch go = new CountDownLatch(1);
    CountDownLatch done = new CountDownLatch(PUBLISHERS);
    for (int p = 0; p < PUBLISHERS; p++) {
      int publisher = p;
      new Thread(
              () -> {
                try {
                  publish(factory, BrokerTopology.routingKey(publisher), body, ready, go);
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                } finally {
                  done.countDown();
                }
              })
          .start();
    }
    ready.await();
    long cpu = cpuNanos();
    long start = System.nanoTime();
    go.countDown();
    done.await();
    double rate = orders * 1e9 / (System.nanoTime() - start);
    bareCpu = (cpuNanos() - cpu) / 1e3 / orders;
    purge(rabbit);
    return rate;
  }

  private void publish(
      ConnectionFactory factory, String key, byte[] body, CountDownLatch ready, CountDownLatch go)
      throws Exception {
    AMQP.BasicProperties properties =
        new AMQP.BasicProperties.Builder()
            .deliveryMode(2)
            .messageId("1234567890123456789")
            .contentType("application/json")
            .appId("bare")
            .headers(Map.of())
            .build();
    try (Connection connection = factory.newConnection();
        Channel channel = connection.createChannel()) {
      Semaphore window = new Semaphore(WINDOW);
      long[] last = {0};
      channel.confirmSelect();
      channel.addConfirmListener(
          (tag, multiple) -> {
            window.release(multiple ? (int) (tag - last[0]) : 1);
            last[0] = tag;
          },
          (tag, multiple) -> {
            throw new IllegalStateException("nack");
          });
      ready.countDown();
      go.await();
      for (int i = 0; i < orders / PUBLISHERS; i++) {
        window.acquire();
        channel.basicPublish(BrokerTopology.ORDERS_EXCHANGE, key, true, properties, body);
      }
      window.acquire(WINDOW);
    }
  }

  private static long cpuNanos() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }

  private static double redisCpu(TestOutbox outbox) {
    return outbox
        .redis()
        .info("cpu")
        .lines()
        .filter(line -> line.startsWith("used_cpu_sys:") || line.startsWith("used_cpu_user:"))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.indexOf(':') + 1)))
        .sum();
  }

  private static void purge(RabbitVhost rabbit) throws Exception {
    try (TestBroker broker = TestBroker.watching(rabbit.url())) {
      for (int i = 0; i < BrokerTopology.ORDER_QUEUES; i++) {
        broker.channel().queueDelete(BrokerTopology.orderQueue(i));
      }
    }
  }
}
