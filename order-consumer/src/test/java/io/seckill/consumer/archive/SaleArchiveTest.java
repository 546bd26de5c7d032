package io.seckill.consumer.archive;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.sale.Shards;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SaleArchiveTest {

  private static final Instant STARTED = Instant.EPOCH;
  private static final Instant DONE = STARTED.plusSeconds(60);

  @Test
  void hasTheOrdersOfAllShardsAndIsAsFarAsTheOneThatIsBehind() {
    SaleArchive own = new SaleArchive(7, ArchivePhase.DONE, "alice", STARTED, 1, DONE);
    SaleArchive behind = shard(1, ArchivePhase.ORDERS, 10, null);
    SaleArchive done = shard(2, ArchivePhase.DONE, 100, DONE.plusSeconds(1));

    assertThat(own.with(behind).with(done))
        .isEqualTo(new SaleArchive(7, ArchivePhase.ORDERS, "alice", STARTED, 111, null));
    assertThat(own.with(done))
        .isEqualTo(new SaleArchive(7, ArchivePhase.DONE, "alice", STARTED, 101, DONE));
  }

  private static SaleArchive shard(
      int shard, ArchivePhase phase, long orders, @Nullable Instant doneAt) {
    return new SaleArchive(
        Shards.id(7, shard), phase, "bob", STARTED.plusSeconds(1), orders, doneAt);
  }
}
