package io.seckill.bench.lab;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.order.SnowflakeIds;
import io.seckill.system.load.Requests;
import java.time.Clock;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Orders as the gateway would have admitted them, one unit for each of many users, from the sales
 * in turn.
 *
 * @param sales on sale, each with enough stock for its share of the orders
 * @param users one for each order
 */
public record MadeOrders(List<BenchSale> sales, Users users) {

  /** Not used by the lab's gateways, which take the lowest free numbers, nor by order-consumer. */
  private static final int WORKER = 253;

  private static final SnowflakeIds IDS = new SnowflakeIds(WORKER, 0, Clock.systemUTC());

  /** Each call creates new orders with other ids, so consume it only once. */
  public Stream<OrderMessage> stream() {
    return IntStream.range(0, (int) users.count())
        .mapToObj((IntFunction<OrderMessage>) this::order);
  }

  /** Returns the length of one of their messages. */
  public int bytes() {
    return OrderMessageCodec.encode(order(0)).length();
  }

  private OrderMessage order(int index) {
    BenchSale sale = sales.get(index % sales.size());
    long userId = users.id(index);
    return new OrderMessage(
        IDS.next(sale.partition()),
        userId,
        sale.skuId(),
        1,
        Requests.key(userId),
        PurchasePolicy.LIMITED,
        sale.epoch(),
        index / sales.size() + 1,
        System.currentTimeMillis(),
        null);
  }
}
