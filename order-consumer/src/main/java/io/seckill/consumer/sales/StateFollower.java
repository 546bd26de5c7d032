package io.seckill.consumer.sales;

import io.seckill.common.order.Partition;
import io.seckill.common.sale.SaleStates;
import io.seckill.common.sale.SaleStates.Shown;
import io.seckill.consumer.products.Products;
import io.seckill.consumer.products.Products.StateToFollow;
import io.seckill.consumer.runtime.RedisCallGuard;
import io.seckill.consumer.runtime.Sql;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;
import redis.clients.jedis.exceptions.JedisDataException;

/** Writes the states that MySQL has to Redis, where it has missed them. */
@Component
record StateFollower(Products products, SaleStates states, Clock clock, RedisCallGuard guard) {

  private static final Logger log = LoggerFactory.getLogger(StateFollower.class);

  /** Sales whose states are read in one round trip, which takes milliseconds. */
  private static final int MOST_TOGETHER = 1_000;

  /** One that fails, and a part of Redis that does not answer, keep no other waiting. */
  void follow(Set<Integer> partitions) {
    products.findFollowed(clock.instant()).stream()
        .filter(sale -> partitions.contains(Partition.ofSku(sale.skuId())))
        .collect(Collectors.groupingBy(sale -> guard.partOf(sale.skuId())))
        .forEach(this::followInPart);
  }

  private void followInPart(int part, List<StateToFollow> sales) {
    for (List<StateToFollow> some : Sql.chunks(sales, MOST_TOGETHER)) {
      List<StateToFollow> behind = new ArrayList<>();
      guard.run(part, () -> behind.addAll(behind(some)));
      behind.forEach(this::followOrWait);
    }
  }

  /** Those that Redis has in another state; a sale that it does not have is not on sale anyway. */
  private List<StateToFollow> behind(List<StateToFollow> sales) {
    List<Optional<Shown>> shown = states.shown(sales.stream().map(StateToFollow::skuId).toList());
    return IntStream.range(0, sales.size())
        .filter(i -> shown.get(i).filter(one -> isFollowed(sales.get(i), one)).isEmpty())
        .mapToObj(sales::get)
        .toList();
  }

  private static boolean isFollowed(StateToFollow sale, Shown shown) {
    return shown.state().isEmpty()
        || (shown.state().equals(sale.state().name()) && shown.version() == sale.stateVersion());
  }

  /** A part of Redis that stops answering meanwhile is left out. */
  private void followOrWait(StateToFollow sale) {
    guard.run(guard.partOf(sale.skuId()), () -> follow(sale));
  }

  private void follow(StateToFollow sale) {
    try {
      states.follow(sale.skuId(), sale.state().name(), sale.epoch(), sale.stateVersion(), null);
    } catch (JedisDataException | IllegalStateException e) { // Redis answers
      log.warn("sku {}: is {} in MySQL alone: {}", sale.skuId(), sale.state(), e.toString());
    }
  }
}
