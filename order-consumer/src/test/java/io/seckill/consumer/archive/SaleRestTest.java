package io.seckill.consumer.archive;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.loading.RedisListScan;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.storage.ListedBarriers;
import io.seckill.consumer.storage.StuckBarriers;
import io.seckill.consumer.testing.UnstoredProduct;
import java.util.ArrayList;
import java.util.List;
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

  /** Sixteen barriers, one after the other, may take longer than the gateway waits. */
  @Test
  void sendsOneBarrierToEachQueueForAllShards() {
    List<Integer> partitions = new ArrayList<>();
    SaleRest rest = new SaleRest(null, null, lists(true), new ListedBarriers(partitions));
    List<ProductSnapshot> shards =
        Shards.ids(7, 16).stream()
            .map(id -> UnstoredProduct.of(id).state("CLOSED").snapshot())
            .toList();

    assertThat(rest.inFlight(shards)).isEmpty();
    assertThat(partitions)
        .extracting(BrokerTopology::routingKey)
        .containsExactlyInAnyOrder("0", "1", "2", "3");
  }

  /** A barrier is sent behind the messages of all lists. */
  @Test
  void sendsNoBarrierWhileAListHasOrdersOfAShard() {
    List<Integer> partitions = new ArrayList<>();
    SaleRest rest = new SaleRest(null, null, lists(false), new ListedBarriers(partitions));
    ProductSnapshot sale = UnstoredProduct.of(7).state("CLOSED").snapshot();

    assertThat(rest.inFlight(List.of(sale))).contains(sale);
    assertThat(partitions).isEmpty();
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
