package io.seckill.system.journey;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Connection;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.order.UnreadableMessageException;
import io.seckill.common.redis.RedisKeys;
import io.seckill.system.Pipeline;
import io.seckill.system.guarantee.Explained;
import io.seckill.system.guarantee.Guarantee;
import io.seckill.system.guarantee.NeverOversold;
import io.seckill.system.guarantee.NothingInvented;
import io.seckill.system.guarantee.Purchases;
import io.seckill.system.guarantee.QuotaHeld;
import io.seckill.system.guarantee.SaleAtRest;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.system.guarantee.StoredOnce;
import io.seckill.system.guarantee.StoresAgree;
import io.seckill.system.process.Service;
import io.seckill.system.shop.Answer;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.AbstractTransaction;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;

/** Deletes data of Redis and of the broker during a sale, then repairs the sale with one call. */
@Tag("proof")
@ExtendWith(TestServers.class)
class ReconciliationJourneyIT {

  private static final Set<String> REFUSALS = Set.of("SOLD_OUT", "TOO_FEW_LEFT", "QUOTA_EXCEEDED");

  private static RedisServer redisServer;
  private static RabbitVhost vhost;
  private static UnifiedJedis redis;
  private static Pipeline pipeline;

  private final Purchases purchases = new Purchases();
  private SaleOffer offer;
  private final AtomicInteger accepted = new AtomicInteger();

  @BeforeAll
  static void start() {
    redisServer =
        RedisServer.start("appendonly yes", "appendfsync always", "hash-max-listpack-value 128");
    String redisUrl = "redis://" + redisServer.host() + ":" + redisServer.port() + "/0";
    redis = RedisClient.create(redisUrl);
    vhost = TestServers.rabbit().newVhost();
    pipeline =
        Pipeline.over(
            "reconciliation",
            new Pipeline.Stores(redisUrl, vhost.url(), TestServers.mysql().newDatabase()),
            Map.of("SECKILL_RECONCILIATION_INTERVAL", "1s"));
    List.of(Service.CONSUMER, Service.RELAY, Service.GATEWAY).forEach(pipeline::run);
  }

  @AfterAll
  static void stop() {
    pipeline.close();
    redis.close();
    redisServer.close();
  }

  @Test
  void rebuildsASaleInOneCallAfterRedisHasLostEverything() throws SQLException {
    long sku = 8001;
    onSale(sku, PurchasePolicy.LIMITED, 2, 3_000);
    List<CompletableFuture<Answer>> requests = buy(sku, 2_500);
    eventually().until(() -> accepted.get() >= 800);
    Set<String> window = flushAll(sku);

    Answer report = pipeline.admin().reconcile(sku, false);

    assertThat(report.text("outcome")).as(report.toString()).isEqualTo("REBUILT");
    requests.forEach(CompletableFuture::join);
    SaleAtRest sale =
        atRest(
            new NeverOversold(),
            new NothingInvented(),
            new StoredOnce(),
            new QuotaHeld(),
            new StoresAgree());
    assertThat(window).as("orders that were only in the lost data").containsAll(lost(sale));
    assertThat(accepted.get()).isEqualTo(2_500);
    assertThat(repeat(sku, sale)).as("repeats get their stored orders").isTrue();
  }

  @Test
  void findsOrdersThatTheBrokerHasLost() throws Exception {
    long sku = 8002;
    onSale(sku, PurchasePolicy.LIMITED, 2, 1_000);
    pipeline.stop(Service.CONSUMER);
    buy(sku, 400).forEach(CompletableFuture::join);
    eventually().until(() -> inLists(sku).isEmpty());
    assertThat(purge(sku)).isEqualTo(400);
    pipeline.run(Service.CONSUMER);

    // A scheduled reconciliation may run first; every order is sent again at least once.
    eventually()
        .until(() -> pipeline.admin().reconcile(sku, false).text("outcome"), "CLEAN"::equals);

    SaleAtRest sale =
        atRest(
            Guarantee.all(Explained.NOTHING.withRepairs("ORDER_SENT_AGAIN"))
                .toArray(Guarantee[]::new));
    assertThat(sale.orders()).hasSize(400);
  }

  private void onSale(long sku, PurchasePolicy policy, int limit, long stock) {
    offer = new SaleOffer(sku, policy, limit, stock);
    pipeline.admin().sell(sku, policy, limit, stock);
  }

  /** Users 1..n buy one unit each, a few at a time, and retry until accepted or refused. */
  private List<CompletableFuture<Answer>> buy(long sku, int users) {
    List<CompletableFuture<Answer>> answers = new ArrayList<>();
    for (int user = 1; user <= users; user++) {
      long buyer = user;
      purchases.attempt(sku, buyer, key(buyer), 1);
      answers.add(
          CompletableFuture.supplyAsync(() -> buyer, later(user / 2))
              .thenCompose(ignored -> buyUntilDecided(sku, buyer)));
    }
    return answers;
  }

  private CompletableFuture<Answer> buyUntilDecided(long sku, long user) {
    return pipeline
        .shop()
        .buyAsync(user, sku, 1, key(user))
        .thenCompose(
            answer -> {
              if (answer.status() == 202) {
                purchases.accepted(sku, user, key(user), answer.text("orderId"));
                accepted.incrementAndGet();
              } else if (!REFUSALS.contains(answer.code())) {
                return CompletableFuture.supplyAsync(() -> user, later(100))
                    .thenCompose(again -> buyUntilDecided(sku, again));
              }
              return CompletableFuture.completedFuture(answer);
            });
  }

  private static Executor later(long ms) {
    return CompletableFuture.delayedExecutor(ms, TimeUnit.MILLISECONDS);
  }

  private static String key(long user) {
    return "purchase-of-" + user;
  }

  /** Executes FLUSHALL; returns the orders of the SKU that were only in Redis at that moment. */
  private static Set<String> flushAll(long sku) {
    int partition = Partition.ofSku(sku);
    List<Response<List<String>>> lists = new ArrayList<>();
    try (AbstractTransaction transaction = redis.multi()) {
      lists.add(transaction.lrange(RedisKeys.outbox(partition), 0, -1));
      for (String member : redis.zrange(RedisKeys.lanes(partition), 0, -1)) {
        lists.add(transaction.lrange(RedisKeys.privateQueue(partition, member), 0, -1));
      }
      transaction.sendCommand(new CommandArguments(Command.FLUSHALL));
      transaction.exec();
    }
    Set<String> orders = new HashSet<>();
    lists.forEach(list -> list.get().forEach(entry -> orders.add(orderId(entry))));
    return orders;
  }

  private static Set<String> inLists(long sku) {
    int partition = Partition.ofSku(sku);
    Set<String> orders = new HashSet<>();
    redis.lrange(RedisKeys.outbox(partition), 0, -1).forEach(entry -> orders.add(orderId(entry)));
    for (String member : redis.zrange(RedisKeys.lanes(partition), 0, -1)) {
      redis
          .lrange(RedisKeys.privateQueue(partition, member), 0, -1)
          .forEach(entry -> orders.add(orderId(entry)));
    }
    return orders;
  }

  private static String orderId(String entry) {
    try {
      return OrderMessageCodec.decode(entry.getBytes(StandardCharsets.UTF_8)).orderId().toString();
    } catch (UnreadableMessageException e) {
      throw new AssertionError("the outbox holds orders", e);
    }
  }

  private Set<String> lost(SaleAtRest sale) {
    Set<String> lost = new HashSet<>(purchases.acceptedOrders());
    sale.orders().forEach(order -> lost.remove(order.orderId()));
    lost.removeAll(sale.aliases());
    return lost;
  }

  /** Whether shoppers whose order is stored get the same order id when they repeat the purchase. */
  private static boolean repeat(long sku, SaleAtRest sale) {
    return sale.orders().stream()
        .limit(50)
        .allMatch(
            order ->
                pipeline
                    .shop()
                    .buy(order.userId(), sku, 1, order.requestId())
                    .text("orderId")
                    .equals(order.orderId()));
  }

  /** Purges the SKU's order queue directly at the broker; returns the number of messages. */
  private static int purge(long sku) throws Exception {
    int queue = Integer.parseInt(BrokerTopology.routingKey(Partition.ofSku(sku)));
    try (Connection connection = vhost.connect();
        var channel = connection.createChannel()) {
      return channel.queuePurge(BrokerTopology.orderQueue(queue)).getMessageCount();
    }
  }

  /** Waits until all guarantees hold at the same time. */
  private SaleAtRest atRest(Guarantee... guarantees) throws SQLException {
    eventually()
        .untilAsserted(
            () -> {
              SaleAtRest sale = pipeline.sales().read(offer);
              for (Guarantee guarantee : guarantees) {
                guarantee.judge(sale, purchases);
              }
            });
    return pipeline.sales().read(offer);
  }
}
