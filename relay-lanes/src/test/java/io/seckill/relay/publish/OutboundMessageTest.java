package io.seckill.relay.publish;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderLines;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.OrderMessages;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OutboundMessageTest {

  private static final long SKU = 1601;
  private static final OutboundOrder UNREADABLE = OutboundOrder.of("{}".getBytes(UTF_8), 0);

  /** RabbitMQ refuses it, which would end every channel of the lane. */
  @Test
  void anUnreadableEntryIsPublishedUpToTheBoundOfTheBroker() {
    byte[] longest = new byte[65_536];
    byte[] longer = new byte[65_537];

    assertThat(alone(longest).body()).isSameAs(longest);
    assertThat(alone(longer).body()).isEqualTo(longest);
    assertThat(alone(longer).orders().get(0).body()).isSameAs(longer);
  }

  private static OutboundMessage alone(byte[] entry) {
    return OutboundMessage.of(List.of(OutboundOrder.of(entry, 0))).get(0);
  }

  @Test
  void ordersOfOneQueueShareMessagesInTheirOrder() {
    List<OutboundOrder> orders = orders(SKU, 2 * OrderLines.MOST_ORDERS + 1);

    List<OutboundMessage> messages = OutboundMessage.of(orders);

    assertThat(messages)
        .extracting(message -> message.orders().size())
        .containsExactly(OrderLines.MOST_ORDERS, OrderLines.MOST_ORDERS, 1);
    assertThat(messages.stream().map(OutboundMessage::orders).flatMap(Collection::stream))
        .containsExactlyElementsOf(orders);
    assertThat(messages)
        .extracting(message -> message.properties().getType())
        .containsExactly("orders.v1", "orders.v1", "order.v1");
    assertThat(OrderLines.split(messages.get(0).body()))
        .containsExactlyElementsOf(
            messages.get(0).orders().stream().map(OutboundOrder::body).toList());
    assertThat(messages.get(2).body()).isSameAs(orders.get(orders.size() - 1).body());
  }

  /** Partitions 0 and 1 have different queues. */
  @Test
  void anOrderOfAnotherQueueAndAnUnreadableEntryTravelAlone() {
    OutboundOrder first = orders(SKU, 1).get(0);
    OutboundOrder other = orders(SKU + 1, 1).get(0);

    List<OutboundMessage> messages =
        OutboundMessage.of(List.of(first, other, UNREADABLE, UNREADABLE, first, first));

    assertThat(messages)
        .extracting(OutboundMessage::orders)
        .containsExactly(
            List.of(first),
            List.of(other),
            List.of(UNREADABLE),
            List.of(UNREADABLE),
            List.of(first, first));
    assertThat(messages)
        .extracting(OutboundMessage::exchange)
        .containsExactly(
            BrokerTopology.ORDERS_EXCHANGE,
            BrokerTopology.ORDERS_EXCHANGE,
            BrokerTopology.DEAD_EXCHANGE,
            BrokerTopology.DEAD_EXCHANGE,
            BrokerTopology.ORDERS_EXCHANGE);
  }

  /** As {@code redis-cli -x LPUSH} makes it of a file; in a shared message it has no border. */
  @ParameterizedTest
  @ValueSource(strings = {"%s\n", "%s\r\n", "%s ", " %s", "\n%s"})
  void anEntryWithWhiteSpaceAroundItTravelsAlone(String around) {
    OutboundOrder order = orders(SKU, 1).get(0);
    String text = around.formatted(new String(order.body(), UTF_8));
    OutboundOrder wide = OutboundOrder.of(text.getBytes(UTF_8), 0);
    assertThat(wide.message()).isEqualTo(order.message());

    List<OutboundMessage> messages =
        OutboundMessage.of(List.of(order, wide, order, order, wide, wide));

    assertThat(messages)
        .extracting(OutboundMessage::orders)
        .containsExactly(
            List.of(order), List.of(wide), List.of(order, order), List.of(wide), List.of(wide));
    assertThat(messages.stream().flatMap(message -> OrderLines.split(message.body()).stream()))
        .containsExactly(
            order.body(), wide.body(), order.body(), order.body(), wide.body(), wide.body());
  }

  /** It would put the others into its trace. */
  @Test
  void onlyAnOrderThatTravelsAloneHasItsTraceparentInAHeader() {
    String trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    String order =
        OrderMessageCodec.encode(OrderMessages.of(SKU, 1))
            .replace("}", ",\"traceparent\":\"" + trace + "\"}");
    OutboundOrder traced = OutboundOrder.of(order.getBytes(UTF_8), 0);

    assertThat(OutboundMessage.of(List.of(traced)).get(0).properties().getHeaders())
        .containsEntry("traceparent", trace);
    assertThat(OutboundMessage.of(List.of(traced, traced)).get(0).properties().getHeaders())
        .isNull();
  }

  /** As long as a later release may write them. */
  @Test
  void longOrdersAreNoLongerTogetherThanTheBoundOfTheBroker() {
    String order = OrderMessageCodec.encode(OrderMessages.of(SKU, 1));
    String longest = order.replace("}", ",\"x\":\"" + "x".repeat(4_089 - order.length()) + "\"}");
    OutboundOrder entry = OutboundOrder.of(longest.getBytes(UTF_8), 0);
    assertThat(entry.message()).isNotNull();
    assertThat(entry.body()).hasSize(4_096);

    List<OutboundMessage> messages =
        OutboundMessage.of(IntStream.range(0, 40).mapToObj(n -> entry).toList());

    assertThat(messages).allMatch(message -> message.body().length <= 65_536);
    assertThat(messages.stream().mapToInt(message -> message.orders().size()).sum()).isEqualTo(40);
  }

  @Test
  void nothingIsNoMessage() {
    assertThat(OutboundMessage.of(List.of())).isEmpty();
  }

  private static List<OutboundOrder> orders(long sku, int count) {
    List<OutboundOrder> orders = new ArrayList<>();
    for (int n = 1; n <= count; n++) {
      String order = OrderMessageCodec.encode(OrderMessages.of(sku, n));
      orders.add(OutboundOrder.of(order.getBytes(UTF_8), 0));
    }
    return orders;
  }
}
