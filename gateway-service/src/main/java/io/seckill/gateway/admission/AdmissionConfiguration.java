package io.seckill.gateway.admission;

import static io.seckill.common.settings.SettingChecks.check;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.gateway.backends.ConsumerClient;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.backends.RedisNodeWatch;
import io.seckill.gateway.backends.RequestBatcher;
import io.seckill.gateway.backends.RequestBatcherProperties;
import io.seckill.gateway.catalogue.ProductCache;
import io.seckill.gateway.fallback.Promises;
import io.seckill.gateway.web.AllowedMethods;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpMethod;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.reactive.function.server.RequestPredicates;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import redis.clients.jedis.UnifiedJedis;

/** Creates the beans of the purchase path. */
@Configuration(proxyBeanMethods = false)
class AdmissionConfiguration {

  /** Outlasts short outages of Redis; the numbers of a dead gateway are free again this soon. */
  static final Duration WORKER_LEASE = Duration.ofSeconds(10);

  /** How often Redis is compared with MySQL; the read of all products takes milliseconds. */
  private static final Duration WATCH_INTERVAL = Duration.ofSeconds(1);

  /** {@link PurchaseRoute} takes every POST. */
  @Bean
  RouterFunction<ServerResponse> otherMethodsOfPurchases() {
    return RouterFunctions.route(
        RequestPredicates.path("/api/v1/skus/{sku}/orders"),
        request -> AllowedMethods.answer(request, HttpMethod.POST));
  }

  @Bean
  SoldOutShield soldOutShield(AdmissionProperties settings) {
    return new SoldOutShield(settings.soldOutShield());
  }

  @Bean
  VerifiedServers verifiedServers(MeterRegistry meters) {
    VerifiedServers servers = new VerifiedServers();
    Gauge.builder("seckill.quarantined.skus", servers::quarantinedOnSale)
        .description("SKUs held because Redis knows less of them, without those that are closed")
        .register(meters);
    Gauge.builder("seckill.redis.verified", () -> servers.allVerified() ? 1 : 0)
        .description("1 when the data of every partition has been compared with MySQL")
        .register(meters);
    return servers;
  }

  /** Closed after all beans that take ids or renew. */
  @Bean
  WorkerLeases workerLeases(UnifiedJedis redis, RedisBreaker breaker, MeterRegistry meters) {
    WorkerLeases leases =
        new WorkerLeases(
            partition ->
                new WorkerLease(redis, breaker, partition, Clock.systemUTC(), WORKER_LEASE),
            WORKER_LEASE);
    Gauge.builder("seckill.gateways", leases, WorkerLeases::count)
        .description("Running gateways as this one counts them; it grants its share of the limits")
        .register(meters);
    return leases;
  }

  @Bean
  SaleWatch saleWatch(
      UnifiedJedis redis,
      RedisBreaker breaker,
      JdbcTemplate mysql,
      VerifiedServers servers,
      RedisNodeWatch nodes,
      HighWaterMarks marks,
      ConsumerClient consumer,
      WorkerLeases leases) {
    return new SaleWatch(
        redis,
        breaker,
        new StoredSales(mysql),
        servers,
        nodes::admits,
        marks,
        consumer::reportLostAdmissions,
        leases,
        WATCH_INTERVAL);
  }

  /** With {@code direct}, admission ends before it is closed. */
  @Bean
  RequestBatcher<Purchase> admitQueue(
      UnifiedJedis redis,
      RedisBreaker breaker,
      VerifiedServers servers,
      HighWaterMarks marks,
      ProductCache products,
      Promises promises,
      WorkerLeases leases,
      SaleWatch watch,
      SoldOutShield shield,
      @Nullable DirectChannel direct,
      AdmissionProperties settings,
      AdmissionMetrics metrics,
      MeterRegistry meters) {
    check(
        (settings.durableIn() == Durability.Store.BROKER) == (direct != null),
        "seckill.admission.durable-in must be redis, replicas or broker");
    AdmitCall call =
        new AdmitCall(
            redis,
            breaker,
            servers,
            marks,
            products::lastRead,
            promises,
            leases::nextId,
            direct == null ? List.of() : direct.lanes(),
            watch::wake,
            shield,
            settings.durability());
    Gauge.builder("seckill.admission.durable", () -> 1)
        .description("1, with what has an order when queued is answered")
        .tag("in", settings.durableIn().name().toLowerCase(Locale.ROOT))
        .register(meters);
    RequestBatcher<Purchase> queue =
        new RequestBatcher<>(
            "admit",
            settings.batching(),
            RedisBreaker.areApart(redis),
            purchases -> {
              metrics.sent(purchases.size());
              call.execute(purchases);
            });
    registerDepth(queue, "admit", meters);
    return queue;
  }

  /** A batch is of one partition, so that a slow sale delays no other. */
  @Bean
  RequestBatcher<Purchase> strongQueue(
      ConsumerClient consumer, AdmissionProperties settings, MeterRegistry meters) {
    RequestBatcherProperties bounds = settings.strongBatching();
    RequestBatcher<Purchase> queue =
        new RequestBatcher<>(
            "strong", bounds, true, new StrongCall(consumer, bounds.answerWithin()));
    registerDepth(queue, "strong", meters);
    return queue;
  }

  private static void registerDepth(
      RequestBatcher<Purchase> queue, String name, MeterRegistry meters) {
    Gauge.builder("seckill.queue.depth", queue, RequestBatcher::depth)
        .description("Purchases that wait to be sent to what decides them")
        .tag("queue", name)
        .register(meters);
  }
}
