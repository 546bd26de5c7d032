package io.seckill.consumer.fallback;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.sale.SalePhase;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.fallback.FallbackSales.InFallback;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FallbackControllerTest {

  @Test
  void operatorsSeeTheShardsOfASkuAsOneSale() {
    List<InFallback> sales = new ArrayList<>();
    sales.add(new InFallback(1_001, SalePhase.MYSQL, 3));
    Shards.ids(1_002, 4).forEach(id -> sales.add(new InFallback(id, SalePhase.LOADING, 2)));

    assertThat(FallbackController.bySku(sales))
        .containsExactly(
            new InFallback(1_001, SalePhase.MYSQL, 3), new InFallback(1_002, SalePhase.LOADING, 8));
  }
}
