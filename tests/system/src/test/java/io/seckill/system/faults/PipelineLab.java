package io.seckill.system.faults;

import static io.seckill.testing.Eventually.eventually;

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
import redis.clients.jedis.UnifiedJedis;

/**
 * Two gateways, two relays and two consumers as processes, each with an agent, and their servers.
 * One lab serves many fault tests; a test puts its own SKUs on sale and leaves no fault behind.
 */
public abstract class PipelineLab implements AutoCloseable {

  /** Purchases of a run, and the time in which they arrive. */
  static final int PURCHASES = 1_200;

  private static final Duration OVER = Duration.ofMillis(PURCHASES * 5L / 4);
  private static final int LONG_PURCHASES = 3_200;
  private static final Duration LONG = Duration.ofSeconds(16);
  private static final int EACH = 2;
  private static final Duration PATIENCE = Duration.ofSeconds(3);
  private static final Duration LONG_PATIENCE = Duration.ofSeconds(20);

  private final String jwtSecret = "fault-tests-" + UUID.randomUUID();
  private final String internalToken = "internal-" + UUID.randomUUID();

  /** Valid also for a gateway whose clock is an hour ahead. */
  private final ShopTokens tokens = new ShopTokens(jwtSecret, Duration.ofHours(6));

  private final AgentServer agents = new AgentServer();
  private final Servers servers;
  private final List<ServiceInstance> gateways = new ArrayList<>();
  private final List<ServiceInstance> relays = new ArrayList<>();
  private final List<ServiceInstance> consumers = new ArrayList<>();
  private final List<TcpProxy> consumerLinks = new ArrayList<>();
  private final List<Integer> shopPorts = new ArrayList<>();
  private final List<ShopClient> shops = new ArrayList<>();
  private final List<AdminClient> admins = new ArrayList<>();
  private final ServicesUnderTest product;
  private final Channel channel;
  private final FaultReport report;
  private final WorksAgain worksAgain;
  private long nextSku = 7_001;

  /**
   * Starts the services and waits until they are ready; takes about half a minute.
   *
   * @param servers run already; {@link #close()} ends them, and so does a start that fails
   * @param report collects the rows that pass
   */
  protected PipelineLab(
      Servers servers, ServicesUnderTest product, Channel channel, FaultReport report) {
    this.servers = servers;
    this.product = product;
    this.channel = channel;
    this.report = report;
    try {
      startServices();
      worksAgain = new WorksAgain(this);
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private void startServices() {
    List<Integer> consumerPorts = List.of(Ports.free(), Ports.free());
    consumers.add(newConsumer(1, consumerPorts.get(0)));
    for (int number = 1; number <= EACH; number++) {
      relays.add(newRelay(number));
    }
    consumers.get(0).awaitReady(); // it migrates the database
    consumers.add(newConsumer(2, consumerPorts.get(1)));
    for (int number = 1; number <= EACH; number++) {
      gateways.add(newGateway(number, consumerPorts.get(number - 1)));
    }
    all().forEach(ServiceInstance::awaitReady);
    servers.putQueuesOnDisk();
  }

  private ServiceInstance newConsumer(int number, int port) {
    Links links = servers.newLinks();
    Map<String, String> environment = new HashMap<>(environment(links).consumer(port));
    environment.put("SECKILL_FALLBACK", channel.fallback());
    return start(Service.CONSUMER, "consumer-" + number, links, port, environment);
  }

  /**
   * The time-out is short, to keep tests short. The broker ends the link of a frozen process after
   * two to three heartbeats: not before others have adopted what it had.
   */
  private ServiceInstance newRelay(int number) {
    Links links = servers.newLinks();
    int port = Ports.free();
    Map<String, String> environment = new HashMap<>(environment(links).relay(port));
    environment.put("SECKILL_RELAY_NAME", "relay-" + number);
    environment.put("SECKILL_RELAY_CONFIRMTIMEOUT", "3s");
    environment.put("SECKILL_BROKER_HEARTBEAT", "10s");
    return start(Service.RELAY, "relay-" + number, links, port, environment);
  }

  private ServiceInstance newGateway(int number, int consumerPort) {
    Links links = servers.newLinks();
    int shopPort = Ports.free();
    int adminPort = Ports.free();
    shopPorts.add(shopPort);
    shops.add(shopAt(shopPort));
    admins.add(new AdminClient("http://127.0.0.1:" + adminPort, tokens));
    String name = "gateway-" + number;
    ServiceEnvironment common = environment(links);
    Map<String, String> environment =
        new HashMap<>(common.gateway(shopPort, adminPort, proxied(consumerPort)));
    environment.putAll(channel.environment(name, common.brokerUrl()));
    return start(Service.GATEWAY, name, links, adminPort, environment);
  }

  /** Port of a link to an order-consumer, see {@link #consumerLink}. */
  private int proxied(int consumerPort) {
    try {
      TcpProxy link = TcpProxy.to("127.0.0.1", consumerPort);
      consumerLinks.add(link);
      return link.port();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private ServiceInstance start(
      Service service, String name, Links links, int port, Map<String, String> environment) {
    Map<String, String> all = new HashMap<>(environment);
    all.putAll(servers.settings(service));
    return ServiceInstance.start(product, service, name, links, agents, port, all);
  }

  private ServiceEnvironment environment(Links links) {
    return servers.environment(links, jwtSecret, internalToken);
  }

  /** Returns a run of {@link #PURCHASES}; the load has not begun. */
  public FaultRun run(String row) {
    return run(row, PURCHASES, OVER);
  }

  public FaultRun run(String row, int purchases, Duration over) {
    return run(row, PlannedPurchase.sales(nextSku, purchases), purchases, over);
  }

  /**
   * A run with purchases before, during and after an outage of Redis: every sale has units left
   * then, also on a machine that stalls for seconds before.
   */
  public FaultRun longRun(String row) {
    return run(row, LONG_PURCHASES, LONG);
  }

  /** As {@link #longRun}, the first of the sales in shards. */
  public FaultRun longRunWithShards(String row) {
    return runWithShards(row, LONG_PURCHASES, LONG);
  }

  /** As {@link #run(String, int, Duration)}, the first of the sales in shards. */
  public FaultRun runWithShards(String row, int purchases, Duration over) {
    return run(row, PlannedPurchase.salesWithShards(nextSku, purchases), purchases, over);
  }

  /** As {@link #run(String)}, of strong sales. */
  public FaultRun runStrong(String row) {
    return runStrong(row, PURCHASES, OVER);
  }

  public FaultRun runStrong(String row, int purchases, Duration over) {
    List<SaleOffer> sales =
        PlannedPurchase.sales(nextSku, purchases).stream().map(SaleOffer::strong).toList();
    return run(row, sales, purchases, over);
  }

  private FaultRun run(String row, List<SaleOffer> sales, int purchases, Duration over) {
    nextSku = 1 + sales.stream().mapToLong(SaleOffer::skuId).max().orElseThrow();
    sales.forEach(this::open);
    return new FaultRun(this, row, sales, purchases, over);
  }

  /** Puts a SKU on sale that opened a minute ago and closes in a day. */
  void open(SaleOffer sale) {
    Instant now = Instant.now();
    open(sale, now.minusSeconds(60), now.plus(1, ChronoUnit.DAYS));
  }

  void open(SaleOffer sale, Instant opensAt, Instant closesAt) {
    admin()
        .sell(
            sale.skuId(),
            sale.policy(),
            sale.limit(),
            sale.stock(),
            sale.decides(),
            sale.shards(),
            opensAt,
            closesAt);
    if (sale.isStrong()) {
      awaitKnown(sale);
    }
  }

  /** Gateways read what decides a sale once a second; before that they do not know a strong one. */
  private void awaitKnown(SaleOffer sale) {
    for (ShopClient shop : shops) {
      Signals.await(
          "a gateway to know " + sale, () -> shop.page(sale.skuId()).text("state").equals("OPEN"));
    }
  }

  /** A new SKU without quota, on sale. */
  public SaleOffer newSale() {
    SaleOffer sale = plenty();
    open(sale);
    return sale;
  }

  /** A new SKU without quota. */
  SaleOffer plenty() {
    return new SaleOffer(nextSku++, PurchasePolicy.UNLIMITED, 0, 100_000);
  }

  public ServiceInstance gateway(int number) {
    return gateways.get(number - 1);
  }

  public ServiceInstance relay(int number) {
    return relays.get(number - 1);
  }

  public ServiceInstance consumer(int number) {
    return consumers.get(number - 1);
  }

  /** The link of a gateway to the order-consumer of the same number. */
  TcpProxy consumerLink(int gateway) {
    return consumerLinks.get(gateway - 1);
  }

  public List<ServiceInstance> gateways() {
    return gateways;
  }

  public List<ServiceInstance> relays() {
    return relays;
  }

  public List<ServiceInstance> consumers() {
    return consumers;
  }

  /** The services that have lanes: relays, and gateways on the direct channel. */
  public List<ServiceInstance> laneOwners() {
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
    return eventually("a consumer to get orders")
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

  public List<ServiceInstance> all() {
    List<ServiceInstance> all = new ArrayList<>(consumers);
    all.addAll(relays);
    all.addAll(gateways);
    return all;
  }

  public List<ShopClient> shops() {
    return shops;
  }

  public AdminClient admin() {
    return admin(1);
  }

  /** A client of the shoppers' port of a gateway, or of something before it. */
  ShopClient shopAt(int port) {
    return shopAt(port, PATIENCE);
  }

  private ShopClient shopAt(int port, Duration patience) {
    return new ShopClient("http://127.0.0.1:" + port, tokens, patience);
  }

  /**
   * Clients of the gateways where none is frozen: a machine that stalls leaves none of their
   * purchases without an answer, a gateway that waits for what does not come does.
   */
  List<ShopClient> patientShops() {
    return shopPorts.stream().map(port -> shopAt(port, LONG_PATIENCE)).toList();
  }

  /** The shoppers' ports of the gateways. */
  List<Integer> shopPorts() {
    return shopPorts;
  }

  /** The admin port of a gateway. */
  AdminClient admin(int gateway) {
    return admins.get(gateway - 1);
  }

  public Channel channel() {
    return channel;
  }

  /** How long nothing must have changed before a run with violations is ended. */
  Duration patience() {
    return product.patience();
  }

  /** The servers; a subclass names them. */
  public Servers servers() {
    return servers;
  }

  public MySqlDatabase database() {
    return servers.database();
  }

  /** The tests' own client of Redis, which uses no service and no service's link. */
  public UnifiedJedis redis() {
    return servers.redisClient();
  }

  public SaleReader sales() {
    MySqlDatabase mysql = servers.database();
    return new SaleReader(mysql.jdbcUrl(), mysql.username(), mysql.password(), redis());
  }

  public WorksAgain worksAgain() {
    return worksAgain;
  }

  public FaultReport report() {
    return report;
  }

  /** Ends every fault and restarts what has died; does not wait for the services. */
  public void heal() {
    servers.heal();
    consumerLinks.forEach(TcpProxy::heal);
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
    consumerLinks.forEach(TcpProxy::close);
    agents.close();
    servers.close();
  }
}
