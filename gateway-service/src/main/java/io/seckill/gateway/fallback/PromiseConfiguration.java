package io.seckill.gateway.fallback;

import io.seckill.common.broker.ProcessName;
import io.seckill.common.order.OrderId;
import io.seckill.gateway.backends.ConsumerClient;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.catalogue.ProductCache;
import java.util.List;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Creates the beans of the fallback. */
@Configuration(proxyBeanMethods = false)
class PromiseConfiguration {

  private static final String STORED =
      "SELECT order_id FROM orders WHERE order_id IN (:ids)"
          + " UNION ALL SELECT order_id FROM order_alias WHERE order_id IN (:ids)";

  @Bean
  Promises promises(PromiseProperties settings, ProductCache products, PromisedOrders orders) {
    return new Promises(
        settings.fallback(),
        products::isOfRedis,
        orders,
        System::nanoTime,
        System::currentTimeMillis);
  }

  @Bean
  Heartbeats heartbeats(
      PromiseProperties settings,
      ServerProperties server,
      ConsumerClient consumer,
      RedisBreaker breaker,
      ProductCache products,
      Promises promises) {
    return new Heartbeats(
        ProcessName.host() + ":" + server.getPort(),
        settings.fallback(),
        consumer,
        breaker,
        products,
        promises);
  }

  @Bean
  PromiseSender promiseSender(
      ConsumerClient consumer,
      ProductCache products,
      Promises promises,
      PromisedOrders orders,
      JdbcClient mysql) {
    return new PromiseSender(
        consumer::transfer,
        consumer::deregister,
        products::lastRead,
        promises,
        orders,
        ids -> stored(mysql, ids),
        Heartbeats.PAUSE);
  }

  @Bean
  Deregistration deregistration(Heartbeats heartbeats, PromiseSender sender) {
    return new Deregistration(heartbeats, sender);
  }

  private static List<OrderId> stored(JdbcClient mysql, List<OrderId> ids) {
    return mysql
        .sql(STORED)
        .param("ids", ids.stream().map(OrderId::value).toList())
        .query((row, n) -> new OrderId(row.getLong(1)))
        .list();
  }

  /**
   * Ends this gateway's registration at order-consumer when it stops: after the web servers, so
   * that no purchase arrives any more, and before the event loops, which the calls need.
   */
  private record Deregistration(Heartbeats heartbeats, PromiseSender sender)
      implements SmartLifecycle {

    @Override
    public void start() {}

    /** A heartbeat after the transfer would register the gateway again. */
    @Override
    public void stop() {
      heartbeats.close();
      sender.close();
    }

    /** Both began with their constructors. */
    @Override
    public boolean isRunning() {
      return true;
    }

    /** Earlier phases stop later; the products are read until here. */
    @Override
    public int getPhase() {
      return WebServerApplicationContext.START_STOP_LIFECYCLE_PHASE - 3;
    }
  }
}
