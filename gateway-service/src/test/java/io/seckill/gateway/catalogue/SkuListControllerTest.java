package io.seckill.gateway.catalogue;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.gateway.backends.BlockingCalls;
import io.seckill.gateway.backends.TestCalls;
import io.seckill.gateway.catalogue.SkuListController.Shown;
import io.seckill.testing.Bounded;
import io.seckill.testing.CannedRedis;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class SkuListControllerTest {

  /** All that ask for a page wait for the same one. */
  @Test
  void aShopperWhoLeavesEndsThePageForNobodyElse() {
    CountDownLatch redisMayAnswer = new CountDownLatch(1);
    CannedRedis redis =
        new CannedRedis(
            command -> {
              Bounded.await(redisMayAnswer);
              return command.get(0).equals("GET") ? "5" : List.of("OPEN", "", "1");
            });
    ProductCache products = TestProducts.read(false);
    BlockingCalls calls = TestCalls.oneThread();
    try {
      Mono<Shown> page =
          new SkuListController(products, new SaleStockCache(redis, calls, products))
              .list(null, null, null);
      CompletableFuture<Shown> stays = page.toFuture();
      page.subscribe().dispose();
      redisMayAnswer.countDown();

      assertThat(Bounded.get(stays).skus()).hasSize(1);
    } finally {
      redisMayAnswer.countDown();
      calls.destroy();
    }
  }
}
