package io.seckill.consumer.loading;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class InFlightCheckTest {

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

    assertThat(new InFlightCheck(null, null, lists, null, null).isProvenNone(7)).isFalse();
  }
}
