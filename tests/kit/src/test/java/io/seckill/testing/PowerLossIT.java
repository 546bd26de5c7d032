package io.seckill.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import com.rabbitmq.client.MessageProperties;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;

/**
 * Compares settings of each server when the power fails. With the settings we ship no acknowledged
 * write is lost; with weaker ones at least one is, otherwise this test would prove nothing.
 */
@Tag("proof")
@ChildProcessesOnly
class PowerLossIT {

  private static final int DISK_MB = 2048;
  private static final int ENOUGH = 300;
  private static final int MOST = 1_000_000;

  /** One cut may lose nothing even with a weak setting: the kernel may have written the data. */
  private static final int MOST_CUTS = 10;

  /** A connection that writes numbers to a server and reads back those that are stored. */
  private interface Numbers extends AutoCloseable {

    /** Returns when the server has acknowledged the number. */
    void write(int number) throws Exception;

    Set<Integer> read() throws Exception;

    @Override
    void close() throws SQLException;
  }

  /** Opens a connection. */
  @FunctionalInterface
  private interface Client {
    Numbers connect() throws Exception;
  }

  @Test
  void redisKeepsWhatItAnsweredWithTheShippedSettings() throws Exception {
    try (RedisServer redis = RedisServer.start(DeployedSettings.redis().toArray(String[]::new))) {
      assertThat(lostByACut(redis, () -> new InRedis(redis))).isZero();
    }
  }

  @Test
  void redisLosesWithAppendfsyncEverysec() throws Exception {
    try (RedisServer redis = RedisServer.start(redisWith("appendfsync everysec"))) {
      assertThat(lostByCuts(redis, () -> new InRedis(redis))).isPositive();
    }
  }

  @Test
  void mySqlKeepsWhatItCommittedWithTheShippedSettings() throws Exception {
    try (MySqlServer mysql = MySqlServer.start(DeployedSettings.mysql().toArray(String[]::new))) {
      assertThat(lostByACut(mysql, () -> new InMySql(mysql))).isZero();
    }
  }

  @Test
  void mySqlLosesWithoutAFlushAtEachCommit() throws Exception {
    try (MySqlServer mysql = MySqlServer.start(mySqlWith("innodb_flush_log_at_trx_commit = 2"))) {
      assertThat(lostByCuts(mysql, () -> new InMySql(mysql))).isPositive();
    }
  }

  /**
   * A transaction that InnoDB has prepared but the binary log does not contain is rolled back at
   * the next start.
   */
  @Test
  void mySqlLosesWithoutASyncedBinaryLog() throws Exception {
    try (MySqlServer mysql = MySqlServer.start(mySqlWith("sync_binlog = 0"))) {
      assertThat(lostByCuts(mysql, () -> new InMySql(mysql))).isPositive();
    }
  }

  @Test
  void rabbitMqKeepsWhatItConfirmedInAQuorumQueue() throws Exception {
    try (RabbitServer rabbit = RabbitServer.start(rabbitLines())) {
      assertThat(lostByACut(rabbit, () -> new InRabbit(rabbit, Map.of("x-queue-type", "quorum"))))
          .isZero();
    }
  }

  @Test
  void rabbitMqLosesWhatItConfirmedInAClassicQueue() throws Exception {
    try (RabbitServer rabbit = RabbitServer.start(rabbitLines())) {
      assertThat(lostByCuts(rabbit, () -> new InRabbit(rabbit, Map.of("x-queue-version", 2))))
          .isPositive();
    }
  }

  private static String[] rabbitLines() {
    return DeployedSettings.rabbit().toArray(String[]::new);
  }

  private static String[] redisWith(String line) {
    return with(DeployedSettings.redis(), line);
  }

  private static String[] mySqlWith(String line) {
    return with(DeployedSettings.mysql(), line);
  }

  private static String[] with(List<String> lines, String line) {
    return Stream.concat(lines.stream(), Stream.of(line)).toArray(String[]::new);
  }

  /** Cuts the power while numbers are written; returns how many acknowledged ones are lost. */
  private static int lostByACut(TestServer server, Client client) throws Exception {
    return lost(server, client, 1, MOST);
  }

  /**
   * Cuts the power as soon as the last number is acknowledged, and repeats this until a cut loses
   * data. Without a synced binary log each commit is on disk with the next one: only the last
   * commit can be lost.
   */
  private static int lostByCuts(TestServer server, Client client) throws Exception {
    return lost(server, client, MOST_CUTS, ENOUGH);
  }

  private static int lost(TestServer server, Client client, int cuts, int most) throws Exception {
    LoopDisk.missing(server).ifPresent(Assumptions::abort);
    try (LoopDisk disk = LoopDisk.under(server, DISK_MB)) {
      Set<Integer> lost = new HashSet<>();
      AtomicInteger next = new AtomicInteger();
      for (int cut = 0; cut < cuts && lost.isEmpty(); cut++) {
        server.restart();
        lost.addAll(writeUntilACut(disk, client, next, most));
        server.restart();
        try (Numbers numbers = client.connect()) {
          lost.removeAll(numbers.read());
        }
      }
      return lost.size();
    }
  }

  /** Returns the numbers that were acknowledged. */
  private static Set<Integer> writeUntilACut(
      LoopDisk disk, Client client, AtomicInteger next, int most) {
    Set<Integer> answered = ConcurrentHashMap.newKeySet();
    CompletableFuture<Void> writing =
        CompletableFuture.runAsync(() -> write(client, next, answered, most));
    await()
        .pollInterval(Duration.ofMillis(1))
        .atMost(Duration.ofMinutes(5))
        .until(() -> answered.size() >= ENOUGH || writing.isDone());
    assertThat(answered).hasSizeGreaterThanOrEqualTo(ENOUGH);
    disk.losePower();
    Bounded.get(writing);
    return answered;
  }

  /** Writes until the server is gone or {@code most} numbers are acknowledged. */
  private static void write(Client client, AtomicInteger next, Set<Integer> answered, int most) {
    try (Numbers numbers = client.connect()) {
      for (int i = 0; i < most; i++) {
        int number = next.incrementAndGet();
        numbers.write(number);
        answered.add(number);
      }
    } catch (Exception e) {
      return; // the power was cut
    }
  }

  private static final class InRedis implements Numbers {

    private final Jedis jedis;

    InRedis(RedisServer redis) {
      jedis = new Jedis(redis.host(), redis.port());
    }

    @Override
    public void write(int number) {
      jedis.sadd("numbers", String.valueOf(number));
    }

    @Override
    public Set<Integer> read() {
      return jedis.smembers("numbers").stream().map(Integer::valueOf).collect(Collectors.toSet());
    }

    @Override
    public void close() {
      jedis.close();
    }
  }

  private static final class InMySql implements Numbers {

    private final Connection connection;

    InMySql(MySqlServer mysql) throws SQLException {
      connection = mysql.rootConnection();
      try (Statement statement = connection.createStatement()) {
        statement.execute("CREATE DATABASE IF NOT EXISTS power");
        statement.execute("CREATE TABLE IF NOT EXISTS power.numbers (n INT PRIMARY KEY)");
      }
    }

    @Override
    public void write(int number) throws SQLException {
      try (Statement statement = connection.createStatement()) {
        statement.execute("INSERT INTO power.numbers VALUES (" + number + ")");
      }
    }

    @Override
    public Set<Integer> read() throws SQLException {
      Set<Integer> numbers = new HashSet<>();
      try (Statement statement = connection.createStatement();
          ResultSet rows = statement.executeQuery("SELECT n FROM power.numbers")) {
        while (rows.next()) {
          numbers.add(rows.getInt(1));
        }
      }
      return numbers;
    }

    @Override
    public void close() throws SQLException {
      connection.close();
    }
  }

  private static final class InRabbit implements Numbers {

    private static final String QUEUE = "numbers";

    private final com.rabbitmq.client.Connection connection;
    private final Channel channel;

    /**
     * Declares the queue and writes the queue registry to disk, which RabbitMQ itself does about a
     * second later.
     */
    InRabbit(RabbitServer rabbit, Map<String, Object> arguments) throws Exception {
      ConnectionFactory factory = new ConnectionFactory();
      factory.setUri("amqp://test:test@" + rabbit.host() + ":" + rabbit.port());
      factory.setAutomaticRecoveryEnabled(false);
      connection = factory.newConnection("power loss");
      channel = connection.createChannel();
      channel.queueDeclare(QUEUE, true, false, false, arguments);
      rabbit.putQueuesOnDisk();
      channel.confirmSelect();
    }

    @Override
    public void write(int number) throws Exception {
      byte[] body = String.valueOf(number).getBytes(StandardCharsets.US_ASCII);
      channel.basicPublish("", QUEUE, MessageProperties.MINIMAL_PERSISTENT_BASIC, body);
      channel.waitForConfirmsOrDie(10_000);
    }

    @Override
    public Set<Integer> read() throws IOException {
      Set<Integer> numbers = new HashSet<>();
      GetResponse message = channel.basicGet(QUEUE, true);
      while (message != null) {
        numbers.add(Integer.valueOf(new String(message.getBody(), StandardCharsets.US_ASCII)));
        message = channel.basicGet(QUEUE, true);
      }
      return numbers;
    }

    @Override
    public void close() {
      connection.abort(1_000);
    }
  }
}
