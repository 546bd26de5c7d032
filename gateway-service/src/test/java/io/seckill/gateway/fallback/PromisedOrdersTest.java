package io.seckill.gateway.fallback;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessages;
import io.seckill.gateway.fallback.PromisedOrders.Content;
import io.seckill.support.contract.PromiseTransfer.Admitted;
import io.seckill.support.contract.PromiseTransfer.Forgotten;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PromisedOrdersTest {

  private static final long SKU = 1_001;

  private final PromisedOrders orders = new PromisedOrders();

  @Test
  void handsOverEachOrderOnceAndKeepsWhatCameLater() {
    orders.add(List.of(order(1), order(2)));
    orders.add(List.of(order(2)));
    Content content = orders.content();
    orders.add(List.of(order(3)));

    orders.transferred(content);

    assertThat(content.orders()).containsExactly(order(1), order(2));
    assertThat(content.dropped()).isEmpty();
    assertThat(orders.content().orders()).containsExactly(order(3));
  }

  @Test
  void saysThatItHadToForget() {
    orders.add(
        IntStream.rangeClosed(1, PromisedOrders.MOST).mapToObj(PromisedOrdersTest::order).toList());
    assertThat(orders.content().dropped()).isEmpty();

    orders.add(List.of(order(PromisedOrders.MOST + 1)));

    Content content = orders.content();
    assertThat(content.forgotten()).containsExactly(new Forgotten(SKU, 1));
    assertThat(content.orders()).hasSize(PromisedOrders.MOST).doesNotContain(order(1));
    orders.transferred(content);
    assertThat(orders.content().dropped()).isEmpty();
  }

  @Test
  void isCompleteAgainWhenMySqlHasWhatWasDropped() {
    orders.add(
        IntStream.rangeClosed(1, PromisedOrders.MOST + 3)
            .mapToObj(PromisedOrdersTest::order)
            .toList());

    orders.forgetDropped((sku, seq) -> sku == SKU + 1 || seq <= 2);
    assertThat(orders.content().dropped()).isNotEmpty();
    orders.forgetDropped((sku, seq) -> sku == SKU && seq <= 3);

    assertThat(orders.content().dropped()).isEmpty();
  }

  @Test
  void staysIncompleteWhenAnOrderIsDroppedDuringTheTransfer() {
    orders.add(
        IntStream.rangeClosed(1, PromisedOrders.MOST + 1)
            .mapToObj(PromisedOrdersTest::order)
            .toList());
    Content content = orders.content();
    orders.add(List.of(order(PromisedOrders.MOST + 2)));

    orders.transferred(content);

    assertThat(orders.content().dropped()).isNotEmpty();
  }

  @Test
  void looksUpOthersFirstWhenSomeAreNotStored() {
    orders.add(List.of(order(1), order(2), order(3)));

    orders.lookedUp(List.of(order(1).orderId(), order(2).orderId()), List.of(order(2).orderId()));

    assertThat(orders.find(order -> true)).containsExactly(order(3).orderId(), order(1).orderId());
  }

  @Test
  void forgetsWhatMySqlHas() {
    orders.add(List.of(order(1), order(2)));

    orders.lookedUp(List.of(order(1).orderId()), orders.find(order -> order.seq() == 1));

    assertThat(orders.content().orders()).containsExactly(order(2));
    assertThat(orders.size()).isEqualTo(1);
  }

  @Test
  void keepsTheMostUnitsOfTheLatestEpoch() {
    orders.add(new Admitted(SKU, 1, 90));
    orders.add(new Admitted(SKU, 2, 20));
    orders.add(new Admitted(SKU, 2, 10));
    orders.add(new Admitted(SKU, 1, 95));

    assertThat(orders.content().admitted()).containsExactly(new Admitted(SKU, 2, 20));
  }

  static OrderMessage order(int number) {
    return OrderMessages.of(SKU, number);
  }
}
