package io.seckill.consumer.archive;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.consumer.loading.RedisListScan;
import io.seckill.consumer.storage.StuckBarriers;
import org.junit.jupiter.api.Test;

class SaleRestTest {

  /** A barrier before would miss an order that is published in between; none can be sent here. */
  @Test
  void looksIntoTheListsBeforeItSendsTheBarrier() {
    assertThat(new SaleRest(null, null, lists(false), null).hasNothingInFlight(7)).isFalse();
  }

  /** An order that is in no list may be in its queue. */
  @Test
  void waitsForTheBarrierWhenTheListsHaveNone() {
    SaleRest rest = new SaleRest(null, null, lists(true), new StuckBarriers());

    assertThat(rest.hasNothingInFlight(7)).isFalse();
  }

  /** Lists of Redis that have an order of every sale, or none of any. */
  static RedisListScan lists(boolean haveNone) {
    return new RedisListScan(null) {
      @Override
      public boolean hasNone(long skuId) {
        return haveNone;
      }
    };
  }
}
