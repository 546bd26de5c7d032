package io.seckill.bench.lab;

import static java.util.concurrent.CompletableFuture.supplyAsync;

import com.rabbitmq.client.ConnectionFactory;
import io.seckill.bench.report.CpuCost;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Decider;
import io.seckill.common.sale.Shards;
import io.seckill.system.Pipeline;
import io.seckill.system.process.Service;
import io.seckill.system.process.ServiceMetrics;
import io.seckill.system.process.ServiceProcess;
import io.seckill.system.shop.AdminClient;
import io.seckill.system.shop.Answer;
import io.seckill.testing.Bounded;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.RedisServer;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.security.GeneralSecurityException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.UnifiedJedis;

/**
 * Own servers as shipped, the services that a stage needs, and sales to buy from. Users and SKUs
 * are never used twice, so no stage is affected by data of another.
 */
public final class Lab implements AutoCloseable {

  /** Ten digits, so that all requests have one length. */
  private static final long FIRST_USER = 1_000_000_000L;

  private static final long FIRST_SKU = 1_000_000L;
  private static final int REDIS_CONNECTIONS = 256;
  private static final int OPENED_AT_ONCE = 20;

  /**
   * Variables for the services: a warm-up as in {@code scripts/up}; heartbeats, which apply unless
   * the broker's are shorter; and no expiry of earlier stages' orders while others are measured.
   */
  private static final Map<String, String> VARIABLES =
      Map.of(
          "SECKILL_WARMUP_REQUESTS",
          "100000",
          "SECKILL_BROKER_HEARTBEAT",
          BenchServers.HEARTBEAT_SECONDS + "s",
          "SECKILL_PAYMENT_TIMEOUT",
          "24h");

  private final Settings settings;
  private final Progress progress;
  private final BenchServers servers;
  private final Pipeline pipeline;
  private final UnifiedJedis redis;
  private long nextUser = FIRST_USER;

  private long nextSku = FIRST_SKU;

  private Lab(
      Settings settings, Progress progress, BenchServers servers, Map<String, String> variables) {
    this.settings = settings;
    this.progress = progress;
    this.servers = servers;
    Map<String, String> all = new HashMap<>(VARIABLES);
    all.putAll(servers.variables());
    all.putAll(variables);
    this.pipeline =
        Pipeline.over(
            servers.name(),
            new Pipeline.Stores(
                redisServer().newDatabase().url(), servers.vhost().url(), servers.database()),
            all);
    ConnectionPoolConfig pool = new ConnectionPoolConfig();
    pool.setMaxTotal(REDIS_CONNECTIONS);
    this.redis =
        servers.redis().size() == 1
            ? RedisClient.builder()
                .hostAndPort(redisServer().host(), redisServer().port())
                .poolConfig(pool)
                .build()
            : RedisClusterClient.builder()
                .nodes(
                    servers.redis().stream()
                        .map(node -> new HostAndPort(node.host(), node.port()))
                        .collect(Collectors.toSet()))
                .poolConfig(pool)
                .build();
  }

  /** Starts the three servers; services start when a stage needs them. */
  public static Lab open(Settings settings, Progress progress) {
    return openWith(settings, progress, Map.of());
  }

  /** As {@link #open}, with additional environment variables for the services. */
  public static Lab openWith(Settings settings, Progress progress, Map<String, String> variables) {
    progress.now("starting Redis, RabbitMQ and MariaDB");
    return new Lab(settings, progress, BenchServers.single(), variables);
  }

  /** As {@link #open}, with three Redis and their Sentinels, three RabbitMQ and two MariaDB. */
  public static Lab openHa(Settings settings, Progress progress) {
    progress.now("starting the servers of the HA form");
    return new Lab(settings, progress, BenchServers.ha(), Map.of());
  }

  /** As {@link #open}, with a Redis Cluster of three primaries. */
  public static Lab openCluster(Settings settings, Progress progress) {
    progress.now("starting a Redis Cluster, RabbitMQ and MariaDB");
    return new Lab(settings, progress, BenchServers.cluster(), Map.of());
  }

  public Settings settings() {
    return settings;
  }

  public Progress progress() {
    return progress;
  }

  public Pipeline pipeline() {
    return pipeline;
  }

  public UnifiedJedis redis() {
    return redis;
  }

  /** The primary, or the first one of a cluster. */
  public RedisServer redisServer() {
    return servers.redis().get(0);
  }

  /** All primaries. */
  public List<RedisServer> redisServers() {
    return servers.redis();
  }

  public RabbitServer rabbitServer() {
    return servers.rabbit();
  }

  /** The vhost of the services. */
  public RabbitVhost vhost() {
    return servers.vhost();
  }

  /** A new connection to the services' database; the caller closes it. */
  public Connection mysql() throws SQLException {
    return servers.database().connect();
  }

  /** As {@link #mysql()}, of the server's administrator. */
  public Connection mysqlAsRoot() throws SQLException {
    Connection root = servers.mysql().rootConnection();
    root.setCatalog(servers.database().name());
    return root;
  }

  /**
   * Returns a factory of connections to a vhost of the lab's broker, without automatic recovery.
   */
  public static ConnectionFactory broker(RabbitVhost vhost) {
    ConnectionFactory factory = new ConnectionFactory();
    try {
      factory.setUri(vhost.url());
    } catch (GeneralSecurityException | URISyntaxException e) {
      throw new IllegalStateException(e);
    }
    factory.setAutomaticRecoveryEnabled(false);
    return factory;
  }

  /**
   * Starts and stops services so that exactly these run and are ready. The consumer has migrated
   * the database before.
   */
  public void runOnly(Service... services) {
    List<Service> wanted = List.of(services);
    for (Service service : Service.values()) {
      if (!wanted.contains(service)) {
        pipeline.stop(service);
      }
    }
    for (Service service : List.of(Service.CONSUMER, Service.RELAY, Service.GATEWAY)) {
      if (wanted.contains(service)) {
        progress.now("waiting for " + service.module());
        pipeline.run(service);
      }
    }
  }

  /**
   * Waits until compilers and collectors have finished the work of the last orders, then measures
   * the CPU time of processes without traffic.
   *
   * @return percent of one core, all of them together
   */
  public double idlePercent(CpuCost... processes) {
    Waiting.pass(settings.seconds(5, 3));
    long start = System.nanoTime();
    CpuTimes before = CpuTimes.now();
    Waiting.pass(settings.seconds(30, 10));
    CpuTimes after = CpuTimes.now();
    long elapsed = TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - start);
    return Stream.of(processes)
        .mapToDouble(process -> 100.0 * (after.micros(process) - before.micros(process)) / elapsed)
        .sum();
  }

  /**
   * Does the work while a running service is frozen with its connections open; always continues the
   * service afterwards. Its heartbeats allow two minutes.
   */
  public void whileFrozen(Service service, Work work) throws Exception {
    ServiceProcess process = pipeline.run(service);
    process.freeze();
    try {
      work.run();
    } finally {
      process.thaw();
    }
  }

  /**
   * Returns the sum of a meter's samples, 0 when the service does not run.
   *
   * @param labels texts that a sample must carry
   */
  public double meter(Service service, String meter, String... labels) {
    try {
      return ServiceMetrics.of(pipeline.healthPort(service), meter).sum(meter, labels);
    } catch (UncheckedIOException e) {
      return 0;
    }
  }

  /** Reserves the ids of {@code count} users. */
  public synchronized Users newUsers(long count) {
    long first = nextUser;
    nextUser += count;
    return new Users(first, count);
  }

  /** Reserves the ids of {@code count} users for whom this is true. */
  public synchronized Users newUsers(long count, LongPredicate wanted) {
    long[] ids = LongStream.iterate(nextUser, id -> id + 1).filter(wanted).limit(count).toArray();
    nextUser = ids[ids.length - 1] + 1;
    return new Users(ids[0], count, index -> ids[(int) index]);
  }

  /** Puts a new SKU on sale; gateway and consumer must run. */
  public BenchSale newSale(long stock) {
    return open(newSku(), stock);
  }

  /** Puts a new SKU of a partition, 0..15, on sale. */
  public BenchSale newSale(int partition, long stock) {
    return open(newSku(partition), stock);
  }

  /** Puts {@code count} SKUs on sale, distributed over all partitions. */
  public List<BenchSale> newSales(int count, long stockOfEach) {
    return openAll(LongStream.generate(this::newSku).limit(count).boxed().toList(), stockOfEach);
  }

  /** Puts as many SKUs on sale as there are others, each in the partition of one of them. */
  public List<BenchSale> newSalesBeside(List<BenchSale> others, long stockOfEach) {
    return openAll(others.stream().map(other -> newSku(other.partition())).toList(), stockOfEach);
  }

  /**
   * Puts a new SKU on sale in shards.
   *
   * @return its shards, in the order of their ids
   */
  public List<BenchSale> newShardedSale(long stock, int shards) {
    long skuId = newSku();
    AdminClient admin = pipeline.admin();
    insist(
        () ->
            admin.putShardedSku(
                skuId, PurchasePolicy.LIMITED, BenchSale.UNITS_PER_USER, stock, shards));
    insist(() -> admin.preheat(skuId));
    insist(() -> admin.open(skuId));
    return Shards.ids(skuId, shards).stream().map(id -> inRedis(id, stock / shards)).toList();
  }

  /** Ends sales, or the SKUs whose shards they are. */
  public void close(List<BenchSale> sales) {
    sales.stream()
        .map(sale -> Shards.sku(sale.skuId()))
        .distinct()
        .forEach(skuId -> insist(() -> pipeline.admin().close(skuId)));
  }

  private long newSku() {
    return nextSku++;
  }

  private long newSku(int partition) {
    long base = nextSku - nextSku % Partition.COUNT + Partition.COUNT;
    nextSku = base + Partition.COUNT;
    return base + partition;
  }

  /**
   * Opens some concurrently, because each waits for several answers and disks; no more than
   * operators have threads.
   */
  private List<BenchSale> openAll(List<Long> skuIds, long stockOfEach) {
    List<BenchSale> open = new ArrayList<>(skuIds.size());
    for (int from = 0; from < skuIds.size(); from += OPENED_AT_ONCE) {
      List<CompletableFuture<BenchSale>> opening =
          skuIds.subList(from, Math.min(from + OPENED_AT_ONCE, skuIds.size())).stream()
              .map(skuId -> supplyAsync(() -> open(skuId, stockOfEach)))
              .toList();
      opening.forEach(sale -> open.add(Bounded.get(sale)));
    }
    return open;
  }

  /** Puts a new SKU on sale whose purchases MySQL decides; gateway and consumer must run. */
  public BenchSale newStrongSale(long stock) {
    long skuId = newSku();
    open(skuId, stock, Decider.MYSQL);
    // Gateways read what decides a sale once a second; before that they do not know a strong one.
    Waiting.until(
        "the gateway to know the strong sale",
        Duration.ofMillis(100),
        () -> pipeline.shop().page(skuId).text("state").equals("OPEN"));
    return inMySqlAlone(skuId, stock);
  }

  /** As {@link #newStrongSale}, by writing its row: no service needs to run. */
  public BenchSale newRowOnSale(long stock) throws SQLException {
    long skuId = newSku();
    try (Connection mysql = mysql();
        Statement insert = mysql.createStatement()) {
      insert.executeUpdate(
          "INSERT INTO products (sku_id, name, price_cents, stock, initial_stock, policy,"
              + " limit_per_user, decides, opens_at, closes_at, state, epoch) VALUES (%d, 'SKU', 1999, %d, %d,"
                  .formatted(skuId, stock, stock)
              + " '%s', %d, '%s', '2026-01-01', '2099-01-01', 'OPEN', 1)"
                  .formatted(PurchasePolicy.LIMITED, BenchSale.UNITS_PER_USER, Decider.MYSQL));
    }
    return inMySqlAlone(skuId, stock);
  }

  private static BenchSale inMySqlAlone(long skuId, long stock) {
    return new BenchSale(skuId, stock, 1, 0);
  }

  private void open(long skuId, long stock, Decider decides) {
    AdminClient admin = pipeline.admin();
    insist(
        () ->
            admin.putSku(skuId, PurchasePolicy.LIMITED, BenchSale.UNITS_PER_USER, stock, decides));
    insist(() -> admin.preheat(skuId));
    insist(() -> admin.open(skuId));
  }

  private BenchSale open(long skuId, long stock) {
    open(skuId, stock, Decider.REDIS);
    return inRedis(skuId, stock);
  }

  private BenchSale inRedis(long skuId, long stock) {
    String sku = RedisKeys.sku(skuId);
    return new BenchSale(
        skuId,
        stock,
        Long.parseLong(redis.hget(sku, "epoch")),
        Integer.parseInt(redis.hget(sku, "bucketCount")));
  }

  /** Repeats a call answered 503: after a stage under high load the stores may need a moment. */
  private static void insist(Callable<Answer> call) {
    Answer[] last = new Answer[1];
    Waiting.until(
        "the gateway to accept an admin call",
        Duration.ofMillis(200),
        () -> {
          last[0] = call.call();
          return last[0].status() != 503;
        });
    if (last[0].status() / 100 != 2) {
      throw new IllegalStateException("the gateway refused: " + last[0]);
    }
  }

  @Override
  public void close() {
    redis.close();
    pipeline.close();
    servers.close().run();
  }
}
