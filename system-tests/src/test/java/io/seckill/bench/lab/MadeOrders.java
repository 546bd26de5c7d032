package io.seckill.bench.lab;

import io.seckill.bench.load.Requests;
import io.seckill.common.id.SnowflakeIds;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.PurchasePolicy;
import java.time.Clock;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Orders as the gateway would have admitted them, one unit for each of many users, taking turns
 * among the sales.
 *
 * @param sales on sale, each with stock for its share
 * @param firstUser the first of {@code count} user ids
 */
public record MadeOrders(List<BenchSale> sales, long firstUser, int count) {

  /** No gateway of the lab has it: they take the lowest ones that are free. */
  private static final int WORKER = 255;

  private static final SnowflakeIds IDS = new SnowflakeIds(WORKER, 0, Clock.systemUTC());

  /** Made anew by each call, with other order ids: go through it once. */
  public Stream<OrderMessage> stream() {
    return IntStream.range(0, count).mapToObj((IntFunction<OrderMessage>) this::order);
  }

  private OrderMessage order(int index) {
    BenchSale sale = sales.get(index % sales.size());
    long userId = firstUser + index;
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
