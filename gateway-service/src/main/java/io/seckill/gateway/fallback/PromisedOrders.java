package io.seckill.gateway.fallback;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.support.contract.PromiseTransfer.Admitted;
import io.seckill.support.contract.PromiseTransfer.Forgotten;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import java.util.function.BinaryOperator;
import java.util.function.LongPredicate;
import java.util.function.Predicate;
import org.springframework.stereotype.Component;

/**
 * The orders that Redis admitted for this gateway and that MySQL may not have yet, and the most
 * units that Redis has reported. Thread-safe; every call is short.
 */
@Component
final class PromisedOrders {

  /** Some 25 MB. A sale has as many orders as units at most. */
  static final int MOST = 100_000;

  private static final BinaryOperator<Admitted> LATER =
      BinaryOperator.maxBy(
          Comparator.comparingLong(Admitted::epoch).thenComparingLong(Admitted::units));

  private static final BinaryOperator<OrderMessage> LAST =
      BinaryOperator.maxBy(
          Comparator.comparingLong(OrderMessage::epoch).thenComparingLong(OrderMessage::seq));

  private final LinkedHashMap<OrderId, OrderMessage> orders = new LinkedHashMap<>();
  private final Map<Long, Admitted> admitted = new HashMap<>();

  /** The last of the orders that were dropped, by SKU, until MySQL has them. */
  private final Map<Long, OrderMessage> dropped = new HashMap<>();

  /**
   * The contents of one transfer.
   *
   * @param dropped of each SKU if MySQL may lack an order that is not in the list, the last one
   */
  record Content(
      List<OrderMessage> orders, List<Admitted> admitted, Map<Long, OrderMessage> dropped) {

    List<Forgotten> forgotten() {
      return dropped.values().stream()
          .map(order -> new Forgotten(order.skuId(), order.epoch()))
          .toList();
    }
  }

  /** Beyond {@value #MOST} the first is dropped. */
  synchronized void add(Collection<OrderMessage> more) {
    more.forEach(order -> orders.putIfAbsent(order.orderId(), order));
    Iterator<OrderMessage> oldest = orders.values().iterator();
    while (orders.size() > MOST) {
      OrderMessage first = oldest.next();
      oldest.remove();
      dropped.merge(first.skuId(), first, LAST);
    }
  }

  synchronized void add(Admitted units) {
    admitted.merge(units.skuId(), units, LATER);
  }

  synchronized Content content() {
    return new Content(
        List.copyOf(orders.values()), List.copyOf(admitted.values()), Map.copyOf(dropped));
  }

  synchronized int size() {
    return orders.size();
  }

  /** The orders for which the condition holds, those first that were not looked up lately. */
  synchronized List<OrderId> find(Predicate<OrderMessage> condition) {
    return orders.values().stream().filter(condition).map(OrderMessage::orderId).toList();
  }

  /**
   * MySQL was asked about these. Those that it does not have become the last, so that orders that
   * are never stored, such as dead letters, do not delay the others.
   */
  synchronized void lookedUp(Collection<OrderId> asked, Collection<OrderId> stored) {
    stored.forEach(orders::remove);
    for (OrderId id : asked) {
      OrderMessage waiting = orders.remove(id);
      if (waiting != null) {
        orders.put(id, waiting);
      }
    }
  }

  /**
   * Forgets that orders of a SKU were dropped, once MySQL has all of them.
   *
   * @param settled whether the orders of the SKU up to this sequence number are settled
   */
  synchronized void forgetDropped(BiPredicate<Long, Long> settled) {
    dropped.values().removeIf(order -> settled.test(order.skuId(), order.seq()));
  }

  synchronized void forgetUnits(LongPredicate isOver) {
    admitted.keySet().removeIf(isOver::test);
  }

  /** All of this content was transferred; what came later is kept. */
  synchronized void transferred(Content content) {
    content.orders().forEach(order -> orders.remove(order.orderId()));
    content.dropped().forEach(dropped::remove);
  }
}
