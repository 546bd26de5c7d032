package io.seckill.system.faults;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.system.SaleReader;
import io.seckill.system.ServiceEnvironment;
import io.seckill.system.agent.AgentServer;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.system.process.Service;
import io.seckill.system.shop.AdminClient;
import io.seckill.system.shop.Answer;
import io.seckill.system.shop.ShopClient;
import io.seckill.system.shop.ShopTokens;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.Ports;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TcpProxy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.awaitility.Awaitility;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

/**
 * Two gateways, two relays and two consumers as processes, and three servers. Every link goes
 * through a proxy, and every process has an agent. One lab serves all fault tests; a test puts its
 * own SKUs on sale and leaves no fault behind.
 */
final class FaultLab implements AutoCloseable {

  private static final int EACH = 2;
  private static final Duration PATIENCE = Duration.ofSeconds(3);
  private static final Duration REDIS_TIMEOUT = Duration.ofSeconds(10);

  private final String jwtSecret = "fault-tests-" + UUID.randomUUID();
  private final String internalToken = "internal-" + UUID.randomUUID();

  /** Valid also for a gateway whose clock is an hour ahead. */
  private final ShopTokens tokens = new ShopTokens(jwtSecret, Duration.ofHours(6));

  private final AgentServer agents = new AgentServer();
  private LabServers servers = LabServers.start();

  /** The tests' own link to Redis, which no fault breaks. */
  private final TcpProxy toRedis = proxyTo(servers.redis());

  private final RedisClient redis = redisClient(toRedis);
  private final List<ServiceInstance> gateways = new ArrayList<>();
  private final List<ServiceInstance> relays = new ArrayList<>();
  private final List<ServiceInstance> consumers = new ArrayList<>();
  private final List<ShopClient> shops = new ArrayList<>();
  private final List<AdminClient> admins = new ArrayList<>();
  private final ServicesUnderTest product;
  private final Channel channel;
  private final FaultReport report;
  private final WorksAgain worksAgain;
  private long nextSku = 7_001;

  private static TcpProxy proxyTo(RedisServer server) {
    try {
      return TcpProxy.to(server);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Has a long time-out: both cores may be busy with services that start. */
  private static RedisClient redisClient(TcpProxy link) {
    return RedisClient.builder()
        .hostAndPort(link.host(), link.port())
        .clientConfig(
            DefaultJedisClientConfig.builder()
                .socketTimeoutMillis((int) REDIS_TIMEOUT.toMillis())
                .build())
        .build();
  }

  private FaultLab(ServicesUnderTest product, Channel channel, FaultReport report) {
    this.product = product;
    this.channel = channel;
    this.report = report;
    List<Integer> consumerPorts = new ArrayList<>();
    for (int number = 1; number <= EACH; number++) {
      int port = Ports.free();
      consumerPorts.add(port);
      consumers.add(newConsumer(number, port));
      consumers.get(0).awaitReady(); // it migrates the database
    }
    for (int number = 1; number <= EACH; number++) {
      relays.add(newRelay(number));
      gateways.add(newGateway(number, consumerPorts.get(number - 1)));
    }
    all().forEach(ServiceInstance::awaitReady);
    servers.rabbit().putQueuesOnDisk();
    worksAgain = new WorksAgain(this);
  }

  /**
   * Starts everything and waits until it is ready; takes about half a minute.
   *
   * @param report collects the rows that pass
   */
  static FaultLab start(Channel channel, FaultReport report) {
    return new FaultLab(ServicesUnderTest.AS_BUILT, channel, report);
  }

  /** As {@link #start(Channel, FaultReport)}, with services that may be changed. */
  static FaultLab start(ServicesUnderTest product, FaultReport report) {
    return new FaultLab(product, Channel.AS_SHIPPED, report);
  }

  private ServiceInstance newConsumer(int number, int port) {
    Links links = Links.to(servers);
    return start(
        Service.CONSUMER, "consumer-" + number, links, port, environment(links).consumer(port));
  }

  /** The time-out is short, to keep tests short. */
  private ServiceInstance newRelay(int number) {
    Links links = Links.to(servers);
    int port = Ports.free();
    Map<String, String> environment = new HashMap<>(environment(links).relay(port));
    environment.put("SECKILL_RELAY_NAME", "relay-" + number);
    environment.put("SECKILL_RELAY_CONFIRMTIMEOUT", "3s");
    return start(Service.RELAY, "relay-" + number, links, port, environment);
  }

  private ServiceInstance newGateway(int number, int consumerPort) {
    Links links = Links.to(servers);
    int shopPort = Ports.free();
    int adminPort = Ports.free();
    shops.add(new ShopClient("http://127.0.0.1:" + shopPort, tokens, PATIENCE));
    admins.add(new AdminClient("http://127.0.0.1:" + adminPort, tokens));
    String name = "gateway-" + number;
    ServiceEnvironment common = environment(links);
    Map<String, String> environment =
        new HashMap<>(common.gateway(shopPort, adminPort, consumerPort));
    environment.putAll(channel.environment(name, common.brokerUrl()));
    return start(Service.GATEWAY, name, links, adminPort, environment);
  }

  private ServiceInstance start(
      Service service, String name, Links links, int port, Map<String, String> environment) {
    return ServiceInstance.start(product, service, name, links, agents, port, environment);
  }

  private ServiceEnvironment environment(Links links) {
    return new ServiceEnvironment(
        "redis://" + links.redis().host() + ":" + links.redis().port() + "/0",
        servers.vhost().via(links.rabbit()).url(),
        servers.database().via(links.mysql()),
        jwtSecret,
        internalToken);
  }

  /** Returns a run of 2 400 purchases over three seconds; the load has not begun. */
  FaultRun run(String row) {
    return run(row, 2_400, Duration.ofSeconds(3));
  }

  FaultRun run(String row, int purchases, Duration over) {
    List<SaleOffer> sales = PlannedPurchase.sales(nextSku, purchases);
    nextSku += sales.size();
    sales.forEach(this::open);
    return new FaultRun(this, row, sales, purchases, over);
  }

  /** Puts a SKU on sale that opened a minute ago and closes in a day. */
  void open(SaleOffer sale) {
    Instant now = Instant.now();
    open(sale, now.minusSeconds(60), now.plus(1, ChronoUnit.DAYS));
  }

  void open(SaleOffer sale, Instant opensAt, Instant closesAt) {
    admin().sell(sale.skuId(), sale.policy(), sale.limit(), sale.stock(), opensAt, closesAt);
  }

  /** A new SKU without quota. */
  SaleOffer plenty() {
    return new SaleOffer(nextSku++, PurchasePolicy.UNLIMITED, 0, 100_000);
  }

  ServiceInstance gateway(int number) {
    return gateways.get(number - 1);
  }

  ServiceInstance relay(int number) {
    return relays.get(number - 1);
  }

  ServiceInstance consumer(int number) {
    return consumers.get(number - 1);
  }

  List<ServiceInstance> gateways() {
    return gateways;
  }

  List<ServiceInstance> relays() {
    return relays;
  }

  List<ServiceInstance> consumers() {
    return consumers;
  }

  /** The services that have lanes: relays, and gateways on the direct channel. */
  List<ServiceInstance> laneOwners() {
    List<ServiceInstance> owners = new ArrayList<>(relays);
    if (channel.isDirect()) {
      owners.addAll(gateways);
    }
    return owners;
  }

  /**
   * Returns the consumer that receives the load's orders at the moment: the first with more than 50
   * new deliveries.
   */
  ServiceInstance activeConsumer() {
    Map<ServiceInstance, Double> before = new HashMap<>();
    consumers.forEach(consumer -> before.put(consumer, deliveries(consumer)));
    return Awaitility.await("a consumer to get orders")
        .atMost(Duration.ofMinutes(2))
        .pollInterval(Duration.ofMillis(100))
        .until(
            () ->
                consumers.stream()
                    .filter(consumer -> deliveries(consumer) > before.get(consumer) + 50)
                    .findFirst()
                    .orElse(null),
            Objects::nonNull);
  }

  private static double deliveries(ServiceInstance consumer) {
    return consumer.sum("seckill_consumer_deliveries_total");
  }

  /**
   * The time of day of a service: from the {@code Date} header of its answer or, for gateways,
   * which do not send it, from the product page.
   */
  Instant timeOfDay(ServiceInstance service, SaleOffer sale) {
    int gateway = gateways.indexOf(service);
    if (gateway < 0) {
      return service.metrics().answeredAt();
    }
    Answer page = shops.get(gateway).page(sale.skuId());
    if (page.status() != 200) {
      throw new IllegalStateException("the page of " + sale + " was answered " + page);
    }
    return Instant.parse(page.text("serverTime"));
  }

  List<ServiceInstance> all() {
    List<ServiceInstance> all = new ArrayList<>(consumers);
    all.addAll(relays);
    all.addAll(gateways);
    return all;
  }

  List<ShopClient> shops() {
    return shops;
  }

  AdminClient admin() {
    return admins.get(0);
  }

  Channel channel() {
    return channel;
  }

  /** How long nothing must have changed before a run with violations is ended. */
  Duration patience() {
    return product.patience();
  }

  LabServers servers() {
    return servers;
  }

  /** Replaces Redis by a promoted server for good: all links are redirected to it. */
  void failOverTo(RedisServer promoted) {
    servers.redis().close();
    servers = servers.with(promoted);
    toRedis.redirect(promoted);
    redis.getPool().clear();
    all().forEach(service -> service.links().redis().redirect(promoted));
  }

  MySqlDatabase database() {
    return servers.database();
  }

  /** The tests' own client of Redis, which uses no service and no service's link. */
  UnifiedJedis redis() {
    return redis;
  }

  SaleReader sales() {
    MySqlDatabase mysql = servers.database();
    return new SaleReader(mysql.jdbcUrl(), mysql.username(), mysql.password(), redis);
  }

  WorksAgain worksAgain() {
    return worksAgain;
  }

  FaultReport report() {
    return report;
  }

  /** Ends every fault and restarts what has died; does not wait for the services. */
  void heal() {
    servers.heal();
    redis.getPool().clear(); // discards connections that a fault has closed
    all().forEach(ServiceInstance::heal);
  }

  /** Waits for the processes that are starting. */
  void awaitStarted() {
    all().forEach(ServiceInstance::awaitStarted);
  }

  /** Waits until a sale can be opened again. */
  void awaitHealed() {
    awaitStarted();
    Signals.await(
        "all services to be ready, and gateways to know Redis",
        () ->
            all().stream().allMatch(ServiceInstance::isReady)
                && gateways.stream()
                    .allMatch(gateway -> gateway.sum("seckill_redis_verified") == 1));
  }

  @Override
  public void close() {
    all().forEach(ServiceInstance::close);
    agents.close();
    redis.close();
    toRedis.close();
    servers.close();
  }
}
