package io.seckill.gateway.fallback;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.sale.SaleState;
import io.seckill.gateway.fallback.PromisedOrders.Content;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.contract.PromiseTransfer;
import io.seckill.support.thread.RepeatingTask;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;

/**
 * Hands over the promised orders once for each term and when this gateway stops, and forgets those
 * that MySQL has. On a thread of its own, so that a long transfer delays no heartbeat.
 */
final class PromiseSender implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(PromiseSender.class);

  /** Ids that MySQL is asked for at once. */
  private static final int MOST_IDS = 500;

  /** Longest transfer at a stop; without one, this gateway stays registered for half a minute. */
  private static final Duration LAST_TRANSFER = Duration.ofSeconds(10);

  /** A round of look-ups must not take MySQL from the orders. */
  private static final int MOST_LOOKED_UP = 5_000;

  private final Consumer<PromiseTransfer> transfer;
  private final Runnable deregister;
  private final LongFunction<@Nullable ProductRow> products;
  private final Promises promises;
  private final PromisedOrders orders;
  private final Function<List<OrderId>, List<OrderId>> stored;
  private final RepeatingTask task;

  /**
   * @param transfer sends a part to order-consumer; throws when it may not be stored
   * @param deregister ends the registration there; throws when it may not have ended
   * @param products a SKU, or a shard, as of the last read; null when it was not there
   * @param stored returns which of at most {@value #MOST_IDS} orders MySQL has; throws a
   *     DataAccessException when it does not answer
   * @param pause between two rounds
   */
  PromiseSender(
      Consumer<PromiseTransfer> transfer,
      Runnable deregister,
      LongFunction<@Nullable ProductRow> products,
      Promises promises,
      PromisedOrders orders,
      Function<List<OrderId>, List<OrderId>> stored,
      Duration pause) {
    this.transfer = transfer;
    this.deregister = deregister;
    this.products = products;
    this.promises = promises;
    this.orders = orders;
    this.stored = stored;
    this.task = new RepeatingTask("promise-transfer", pause, this::round);
  }

  private void round() {
    long registration = promises.registration();
    long term = promises.awaitedTerm();
    if (promises.mustRemember() && term > promises.transferred()) {
      Content content = orders.content();
      send(term, content, () -> {});
      transfer.accept(new PromiseTransfer(term, List.of(), List.of(), List.of(), true, true));
      orders.transferred(content);
      promises.transferred(term, registration);
    }
    forgetStored();
  }

  /** {@code beforeCall} runs before each call; it throws to end the transfer. */
  private void send(long term, Content content, Runnable beforeCall) {
    List<OrderMessage> missing = missingInMySql(content.orders());
    Consumer<PromiseTransfer> call =
        part -> {
          beforeCall.run();
          transfer.accept(part);
        };
    inParts(
        missing,
        PromiseTransfer.MAX_ORDERS,
        part -> call.accept(new PromiseTransfer(term, part, List.of(), List.of(), false, false)));
    inParts(
        content.admitted(),
        PromiseTransfer.MAX_ORDERS,
        part -> call.accept(new PromiseTransfer(term, List.of(), part, List.of(), false, false)));
    inParts(
        content.forgotten(),
        PromiseTransfer.MAX_ORDERS,
        part -> call.accept(new PromiseTransfer(term, List.of(), List.of(), part, false, false)));
    log.info(
        "term {}: {} of {} promised orders transferred, MySQL had the others",
        term,
        missing.size(),
        content.orders().size());
  }

  /** A look-up of many ids takes as long as storing a few orders. */
  private List<OrderMessage> missingInMySql(List<OrderMessage> promised) {
    Set<OrderId> found = new HashSet<>();
    try {
      inParts(
          promised.stream().map(OrderMessage::orderId).toList(),
          MOST_IDS,
          part -> found.addAll(stored.apply(part)));
    } catch (DataAccessException e) {
      log.warn("MySQL does not answer which promised orders it has: {}", e.toString());
    }
    return promised.stream().filter(order -> !found.contains(order.orderId())).toList();
  }

  private static <T> void inParts(List<T> all, int most, Consumer<List<T>> call) {
    for (int from = 0; from < all.size(); from += most) {
      call.accept(all.subList(from, Math.min(all.size(), from + most)));
    }
  }

  /**
   * Asks MySQL only about sales that seem to be stored completely, so that no sale at its peak is
   * delayed, or about all when the memory is half full.
   */
  private void forgetStored() {
    orders.forgetDropped(this::isAtRest);
    orders.forgetUnits(this::isOver);
    boolean isHalfFull = orders.size() > PromisedOrders.MOST / 2;
    List<OrderId> candidates =
        orders.find(order -> isHalfFull || isAtRest(order.skuId(), order.seq()));
    inParts(
        candidates.subList(0, Math.min(candidates.size(), MOST_LOOKED_UP)),
        MOST_IDS,
        part -> orders.lookedUp(part, stored.apply(part)));
  }

  private boolean isAtRest(long skuId, long seq) {
    ProductRow product = products.apply(skuId);
    return product != null
        && product.redisDecides()
        && seq <= product.lastSeq()
        && product.lastSeq() <= product.settled();
  }

  /** Of such a sale no units are reserved for lost orders, because nobody can buy them. */
  private boolean isOver(long skuId) {
    ProductRow product = products.apply(skuId);
    return product == null || (product.state() == SaleState.CLOSED && isAtRest(skuId, 0));
  }

  /**
   * Hands over what MySQL does not have yet and ends the registration, so that no fallback reserves
   * units for this gateway any more. Heartbeats have ended before. What Redis admits from now on is
   * not promised.
   */
  @Override
  public void close() {
    task.close();
    boolean isRegistered = promises.isHeard();
    promises.end();
    if (isRegistered) {
      endRegistration();
    }
  }

  /**
   * Without the call order-consumer waits for a look at Redis that includes all promised orders.
   */
  private void endRegistration() {
    try {
      Content content = orders.content();
      if (promises.mustRemember()) {
        long deadline = System.nanoTime() + LAST_TRANSFER.toNanos();
        send(promises.term(), content, () -> requireTime(deadline));
      }
      deregister.run();
    } catch (RuntimeException e) { // the stop goes on
      log.warn("this gateway stays registered for half a minute: {}", e.toString());
    }
  }

  private static void requireTime(long deadlineNanos) {
    if (System.nanoTime() - deadlineNanos >= 0) {
      throw new IllegalStateException(
          "the promise transfer takes longer than " + LAST_TRANSFER.toSeconds() + " s");
    }
  }
}
