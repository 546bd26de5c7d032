package io.seckill.consumer.shards;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.runtime.ConnectionPools;
import io.seckill.consumer.runtime.IdlePools;
import io.seckill.testing.TestServers;
import java.util.List;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.dao.QueryTimeoutException;

@NullUnmarked // nothing is read or moved here
@ExtendWith(TestServers.class)
class ShardMoverIT {

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

  /** Two SKUs are on sale for a round; MySQL answers about the first alone, and once. */
  @Test
  void showsHowLongASkuHasNotBeenLookedAt() {
    ConnectionPools pools = IdlePools.to(TestServers.mysql().newDatabase(), meters);
    Looks looks = new Looks();
    ShardMover mover = new ShardMover(pools, looks, null, null, meters);

    mover.round();

    assertThat(looks.age)
        .isBetween(
            (looks.agedNanos - looks.afterLookNanos) / 1e9,
            (looks.agedEndNanos - looks.lookNanos) / 1e9);
    assertThat(age()).as("nothing is on sale").isZero();
    mover.stop();
    ((HikariDataSource) pools.reconciliation()).close();
  }

  private double age() {
    return meters.get("seckill.consumer.shard.looks.age").gauge().value();
  }

  private final class Looks extends ShardTable {
    private int rounds;
    private long lookNanos;
    private long afterLookNanos;
    private long agedNanos;
    private long agedEndNanos;
    private double age;

    Looks() {
      super(null);
    }

    @Override
    List<ProductSnapshot> onSale() {
      if (rounds++ == 0) {
        return List.of(SkuMoverTest.sku(1), SkuMoverTest.sku(2));
      }
      agedNanos = System.nanoTime();
      age = age();
      agedEndNanos = System.nanoTime();
      return List.of();
    }

    @Override
    Pool pool(ProductSnapshot sku) {
      if (sku.skuId() == 2) {
        afterLookNanos = System.nanoTime();
        throw new QueryTimeoutException("MySQL does not answer");
      }
      lookNanos = System.nanoTime();
      return new Pool(0, 7, 0, 0, 0, SalePhase.MYSQL); // as in a fallback
    }
  }
}
