package io.seckill.gateway.admission;

import static io.seckill.common.settings.SettingChecks.check;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisSettings;
import io.seckill.gateway.admission.BrokerConfirms.RecentPublishes;
import io.seckill.gateway.backends.ConsumerClient;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.batching.RequestBatcher;
import io.seckill.gateway.batching.RequestBatcherProperties;
import io.seckill.gateway.catalogue.ProductCache;
import io.seckill.gateway.fallback.Promises;
import io.seckill.gateway.ids.WorkerLeases;
import io.seckill.gateway.verification.HighWaterMarks;
import io.seckill.gateway.verification.SaleWatch;
import io.seckill.gateway.verification.VerifiedServers;
import io.seckill.gateway.web.AllowedMethods;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpMethod;
import org.springframework.web.reactive.function.server.RequestPredicates;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import redis.clients.jedis.UnifiedJedis;

/** Creates the beans of the purchase path. */
@Configuration(proxyBeanMethods = false)
class AdmissionConfiguration {

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

  /** With {@code direct}, admission ends before it is closed. */
  @Bean
  AdmitRequests admitRequests(
      VerifiedServers servers,
      Promises promises,
      WorkerLeases leases,
      ProductCache products,
      @Nullable DirectChannel direct,
      AdmissionProperties settings,
      RedisSettings redis) {
    settings.checkWith(redis);
    check(
        (settings.durableIn() == Durability.Store.BROKER) == (direct != null),
        "seckill.admission.durable-in must be redis, replicas or broker");
    return new AdmitRequests(
        servers,
        promises,
        leases::nextId,
        products::lastRead,
        direct == null ? List.of() : direct.lanes(),
        settings.durability());
  }

  @Bean
  AdmitAnswers admitAnswers(
      VerifiedServers servers,
      SaleWatch watch,
      HighWaterMarks marks,
      SoldOutShield shield,
      Promises promises,
      ProductCache products,
      AdmissionProperties settings) {
    return new AdmitAnswers(
        servers,
        watch::wake,
        marks,
        shield,
        promises,
        products::lastRead,
        settings.durability(),
        new RecentPublishes());
  }

  @Bean
  RequestBatcher<Purchase> admitQueue(
      UnifiedJedis redis,
      RedisBreaker breaker,
      AdmitRequests requests,
      AdmitAnswers answers,
      AdmissionProperties settings,
      AdmissionMetrics metrics,
      MeterRegistry meters) {
    Gauge.builder("seckill.admission.durable", () -> 1)
        .description("1, with what has an order when queued is answered")
        .tag("in", settings.durableIn().name().toLowerCase(Locale.ROOT))
        .register(meters);
    RequestBatcher<Purchase> queue =
        new RequestBatcher<>(
            "admit",
            settings.batching(),
            RedisClients.areApart(redis),
            new AdmitCall(redis, breaker, settings.durability(), requests, answers, metrics));
    queue.registerDepth(meters);
    return queue;
  }

  /** A batch is of one partition, so that a slow sale delays no other. */
  @Bean
  RequestBatcher<Purchase> strongQueue(
      ConsumerClient consumer, AdmissionProperties settings, MeterRegistry meters) {
    RequestBatcherProperties bounds = settings.strongBatching();
    RequestBatcher<Purchase> queue =
        new RequestBatcher<>(
            "strong", bounds, true, StrongCall.to(consumer, bounds.answerWithin()));
    queue.registerDepth(meters);
    return queue;
  }
}
