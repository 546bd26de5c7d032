package io.seckill.consumer.archive;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.consumer.loading.RedisListScan;
import org.junit.jupiter.api.Test;

class SaleRestTest {

  /** A barrier before would miss an order that is published in between; none can be sent here. */
  @Test
  void looksIntoTheListsBeforeItSendsTheBarrier() {
    RedisListScan lists =
        new RedisListScan(null) {
          @Override
          public boolean hasNone(long skuId) {
            return false;
          }
        };

    assertThat(new SaleRest(null, null, lists, null).hasNothingInFlight(7)).isFalse();
  }
}
