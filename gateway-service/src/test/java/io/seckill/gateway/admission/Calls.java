package io.seckill.gateway.admission;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.SnowflakeIds;
import io.seckill.gateway.admission.BrokerConfirms.RecentPublishes;
import io.seckill.gateway.backends.RedisBreakers;
import io.seckill.gateway.batching.RequestBatcher;
import io.seckill.gateway.fallback.Promises;
import io.seckill.gateway.fallback.TestPromises;
import io.seckill.gateway.testing.TestSale;
import io.seckill.gateway.verification.HighWaterMarks;
import io.seckill.gateway.verification.VerifiedServers;
import io.seckill.relay.lane.LaneMailbox;
import io.seckill.support.contract.ProductRow;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.UnifiedJedis;

/** Sends purchases to {@code admit.lua} in one call, as a batch does. */
final class Calls {

  static final SnowflakeIds IDS = new SnowflakeIds(7, 0, Clock.systemUTC());

  private final HighWaterMarks marks = new HighWaterMarks();
  private final VerifiedServers servers = new VerifiedServers();
  private final SoldOutShield shield = new SoldOutShield(Duration.ofMinutes(1));
  private final AdmitCall admit;
  private int otherServers;
  private @Nullable ProductRow product;
  private Runnable beforeReply = () -> {};

  Calls(UnifiedJedis redis) {
    this(redis, 0);
  }

  Calls(UnifiedJedis redis, int replicas) {
    this(
        redis,
        new Durability(
            replicas == 0 ? Durability.Store.REDIS : Durability.Store.REPLICAS,
            replicas,
            Duration.ofMillis(200)),
        List.of());
  }

  Calls(UnifiedJedis redis, Durability durability, List<LaneMailbox> lanes) {
    this(redis, durability, lanes, TestPromises.withoutFallback());
  }

  Calls(UnifiedJedis redis, Promises promises) {
    this(redis, new Durability(Durability.Store.REDIS, 0, Duration.ZERO), List.of(), promises);
  }

  private Calls(
      UnifiedJedis redis, Durability durability, List<LaneMailbox> lanes, Promises promises) {
    LongFunction<@Nullable ProductRow> products =
        sku -> {
          beforeReply.run();
          return product;
        };
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    this.admit =
        new AdmitCall(
            redis,
            RedisBreakers.of(redis, meters),
            durability,
            new AdmitRequests(servers, promises, IDS::next, products, lanes, durability),
            new AdmitAnswers(
                servers,
                () -> otherServers++,
                marks,
                shield,
                promises,
                products,
                durability,
                new RecentPublishes()),
            new AdmissionMetrics(meters));
    verify(redis);
  }

  /** Marks the server as verified for all partitions, with any data. */
  void verify(UnifiedJedis redis) {
    for (int p = 0; p < 16; p++) {
      servers.verified(p, TestSale.replicationId(redis));
    }
  }

  Admission one(PurchaseAttempt attempt) {
    return together(attempt).get(0);
  }

  List<Admission> together(PurchaseAttempt... attempts) {
    Admission[] outcomes = new Admission[attempts.length];
    List<Purchase> purchases = new ArrayList<>();
    for (int i = 0; i < attempts.length; i++) {
      int at = i;
      purchases.add(new Purchase(attempts[i], outcome -> outcomes[at] = outcome));
    }
    admit.execute(purchases);
    return List.of(outcomes);
  }

  /** What sends a batch. */
  RequestBatcher.Executor<Purchase> executor() {
    return admit;
  }

  /** Runs when the arguments of a call are made, after it was found that it may be made. */
  void beforeReply(Runnable step) {
    beforeReply = step;
  }

  /** What MySQL has of the SKU from now on. */
  void product(ProductRow row) {
    product = row;
  }

  SoldOutShield shield() {
    return shield;
  }

  HighWaterMarks marks() {
    return marks;
  }

  VerifiedServers servers() {
    return servers;
  }

  int otherServers() {
    return otherServers;
  }

  /** A purchase with an idempotency key sent by the shopper. */
  static PurchaseAttempt attempt(TestSale sale, long user, String key, int quantity) {
    return new PurchaseAttempt(sale.sku(), user, key, true, quantity, null);
  }
}
