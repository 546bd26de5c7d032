package io.seckill.consumer.sales;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.SaleState;
import io.seckill.common.sale.SaleStates;
import io.seckill.consumer.loading.StrictRedisSafety;
import io.seckill.consumer.products.Products;
import io.seckill.consumer.products.RedisSaleState;
import io.seckill.consumer.runtime.RedisCallGuard;
import io.seckill.consumer.testing.InternalApi;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import io.seckill.testing.TestServers;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.transaction.support.TransactionOperations;

/** Openings on a Redis that may forget orders, or does not hold the sale. */
@ExtendWith(TestServers.class)
class SaleTransitionsIT {

  private static final AtomicLong NEXT_SKU = new AtomicLong(1_501);

  private static final TestConsumer consumer = TestConsumer.shared();
  private static final InternalApi api = consumer.api();

  private final long sku = NEXT_SKU.getAndIncrement();
  private final String path = "/internal/v1/skus/" + sku;

  private final SaleTransitions strict =
      new SaleTransitions(
          consumer.bean(Products.class),
          consumer.bean(TransactionOperations.class),
          consumer.bean(PendingStops.class),
          consumer.bean(SaleStates.class),
          consumer.redis(),
          StrictRedisSafety.of(consumer),
          consumer.bean(RedisCallGuard.class));

  @Test
  void openNoSaleThatBegins() {
    preheat(Sales.product("LIMITED", 5, 100));

    assertThatExceptionOfType(ProblemException.class)
        .isThrownBy(() -> strict.open(sku, SaleState.PREHEATED))
        .extracting(e -> e.problem().code())
        .isEqualTo(ProblemCode.UNSAFE_REDIS);
    assertThat(consumer.product(sku, "state")).isEqualTo("PREHEATED");
  }

  @Test
  void resumeASaleThatHasBegun() {
    preheat(Sales.product("LIMITED", 5, 100));
    api.post(path + "/open");
    api.post(path + "/state", "{\"state\":\"PAUSED\"}");

    assertThat(strict.open(sku, SaleState.PAUSED).state()).isEqualTo(SaleState.OPEN);
  }

  @Test
  void openAStrongSale() {
    preheat(Sales.strongProduct("LIMITED", 5, 100));

    assertThat(strict.open(sku, SaleState.PREHEATED).state()).isEqualTo(SaleState.OPEN);
  }

  /** A preheat ends the one that is under way, and is refused while the sale runs. */
  @ParameterizedTest
  @CsvSource({
    "open, true, only if that has failed",
    "open, false, preheat it first",
    "resume, true, reconcile it first",
    "resume, false, reconcile it first"
  })
  void sayWhatHelpsWhenRedisDoesNotHoldTheSale(String call, boolean isLoading, String remedy) {
    preheat(Sales.product("LIMITED", 5, 100));
    if (call.equals("resume")) {
      api.post(path + "/open");
      api.post(path + "/state", "{\"state\":\"PAUSED\"}");
    }
    if (isLoading) {
      consumer.redis().hset(RedisKeys.sku(sku), "state", RedisSaleState.LOADING);
    } else {
      consumer.redis().del(RedisKeys.sku(sku));
    }

    Answer refused = api.post(path + "/" + call);

    assertThat(refused.code()).isEqualTo("NOT_PREHEATED");
    assertThat(refused.text("detail")).contains(remedy);
    Answer preheated = api.post(path + "/preheat", "");
    assertThat(preheated.text()).contains(call.equals("open") ? "PREHEATED" : "reconcile it");
    api.post(path + "/state", "{\"state\":\"CLOSED\"}"); // else other tests find it lost
  }

  private void preheat(String product) {
    api.put(path, product);
    assertThat(api.post(path + "/preheat", "").status()).isEqualTo(200);
  }
}
