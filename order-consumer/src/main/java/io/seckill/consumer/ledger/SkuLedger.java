package io.seckill.consumer.ledger;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.seckill.common.sale.Decider;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The conservation equation of one SKU as read at one time; docs/architecture.md derives it. A
 * difference is the left side minus the right side: above 0 something is missing, below 0 something
 * is there twice or was never admitted.
 *
 * @param decides MYSQL for a strong sale: all items are MySQL's, nothing is in flight
 * @param balanced whether every difference is 0, and a queue that lacked orders surely has all; the
 *     difference of the queue may also be below 0, because a stored order stays in the broker until
 *     it is acked
 * @param unbalancedSince time of the first unbalanced reading after which none was balanced; null
 *     while balanced
 * @param partition all 0 for a strong sale
 * @param queue null while the broker, or Redis for any of its partitions, does not answer, and for
 *     a strong sale; the queue is then not checked
 * @param pool units in no shard, which are part of the stock; null for a SKU without shards
 * @param shards their ledgers, whose sums this one has, except for partition and queue; null for a
 *     SKU without shards
 * @param queueMayLack whether the queue has lacked orders, and may lack them still; false for a SKU
 *     with shards, whose ledgers have it
 */
record SkuLedger(
    long skuId,
    Decider decides,
    String state,
    long epoch,
    Instant readAt,
    boolean balanced,
    @Nullable Instant unbalancedSince,
    Units units,
    Orders orders,
    MySql mysql,
    Lists partition,
    @Nullable Queue queue,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Long pool,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable List<SkuLedger> shards,
    @JsonIgnore boolean queueMayLack) {

  /**
   * {@code initial + added - withdrawn} = sum of the other items + difference.
   *
   * @param initial of a shard: with what was moved to it since, less what was moved from it
   * @param added of a SKU, not of a shard, as are those withdrawn
   * @param stock admissible in Redis; in MySQL for a strong sale, and while Redis has no such sale
   *     and need not have one
   * @param compensating returned in MySQL and not yet confirmed by Redis
   * @param changing in one store and not yet in the other, because of a stock change under way
   */
  record Units(
      long initial,
      long added,
      long withdrawn,
      long stock,
      long outboxAndPrivateQueues,
      long broker,
      long deadLetters,
      long confirmed,
      long paid,
      long compensating,
      long changing) {

    @JsonProperty
    long difference() {
      long inTransit = outboxAndPrivateQueues + broker + deadLetters + compensating + changing;
      return initial + added - withdrawn - stock - inTransit - confirmed - paid;
    }
  }

  /**
   * {@code admitted} = sum of the other items + difference. For a strong sale, admitted is MySQL's
   * count, which it raised with the stock that the orders took.
   */
  record Orders(
      long admitted,
      long outboxAndPrivateQueues,
      long broker,
      long deadLetters,
      long confirmed,
      long paid,
      long cancelled,
      long expired,
      long rejected,
      long aliases,
      long difference) {}

  /**
   * MySQL's stock compared with its orders: {@code initial + added - withdrawn - confirmed - paid}
   * units = stock + difference.
   */
  record MySql(long stock, long expected, long difference) {}

  /**
   * The lists of the SKU's partition compared with the counters of all SKUs in it, in orders:
   * {@code expected = outbox + privateQueues + difference}.
   *
   * @param outbox orders not taken by any lane yet
   * @param oldestMs age of the oldest of them since its admission; 0 when there is none
   * @param privateQueues orders in private queues, including those of dead lanes
   * @param deadPrivateQueues those of them whose lane is dead or has let its lease expire
   */
  record Lists(
      int partition,
      long outbox,
      long oldestMs,
      long privateQueues,
      long deadPrivateQueues,
      long expected,
      long difference) {

    /** Of a SKU whose orders are not in the lists of its partition. */
    static Lists none(int partition) {
      return new Lists(partition, 0, 0, 0, 0, 0, 0);
    }
  }

  /**
   * The SKU's queue compared with the counters of all SKUs in it.
   *
   * @param ready messages, each with 1 to 16 orders
   * @param unacked orders delivered to the queue's active consumer and not settled; some may
   *     already be stored
   * @param expected orders
   * @param difference orders that are in none of these, or below 0 messages and orders too many
   */
  record Queue(String queue, long ready, long unacked, long expected, long difference) {

    /** Whether it lacks orders unless some of its messages have several. */
    private boolean mayLack() {
      return expected > ready + unacked;
    }
  }

  /** The ledgers of what is sold: those of the shards, or this one. */
  List<SkuLedger> sold() {
    return shards == null ? List.of(this) : shards;
  }

  /** The items for which a sale that is over still waits; empty when it is at rest. */
  List<String> waiting() {
    List<String> found = new ArrayList<>();
    if (!balanced) {
      found.add(differs() ? "the ledger does not balance" : "its queue may still lack orders");
    }
    if (lacksQueue()) {
      found.add("its queue cannot be checked");
    }
    if (shards != null) {
      shards.stream()
          .flatMap(shard -> shard.waiting().stream())
          .filter(item -> !found.contains(item))
          .forEach(found::add);
      return found;
    }
    long onTheirWay = orders.outboxAndPrivateQueues + orders.broker;
    add(found, Math.max(0, onTheirWay), "orders on their way to MySQL");
    add(
        found,
        Math.max(0, -onTheirWay),
        "orders that Redis lacks: close the sale again, preheat it and close it");
    add(found, orders.confirmed, "orders that may still be paid");
    add(found, units.compensating, "units on their way back to Redis");
    return found;
  }

  /** Whether any difference counts. An unbalanced ledger without one may lack orders in a queue. */
  boolean differs() {
    return differ(units, orders, mysql, partition, queue)
        || (shards != null && shards.stream().anyMatch(SkuLedger::differs));
  }

  static boolean differ(
      Units units, Orders orders, MySql mysql, Lists partition, @Nullable Queue queue) {
    return units.difference() != 0
        || orders.difference != 0
        || mysql.difference != 0
        || partition.difference != 0
        || (queue != null && queue.difference > 0);
  }

  /** Whether its queue was not checked, and has to be. */
  boolean lacksQueue() {
    return queue == null && decides == Decider.REDIS && shards == null;
  }

  /** Whether the queue lacks orders, or may lack those that it lacked in the ledger before. */
  private boolean mayLackAfter(@Nullable SkuLedger known) {
    if (queue != null && queue.difference > 0) {
      return true;
    }
    boolean mayLack = queue == null ? lacksQueue() : queue.mayLack();
    return mayLack && known != null && known.queueMayLack;
  }

  private static void add(List<String> found, long number, String what) {
    if (number != 0) {
      found.add(number + " " + what);
    }
  }

  /**
   * Returns this ledger with what only those before can say: whether the queue may still lack
   * orders, and since when no ledger of the SKU has balanced. {@code known} is the one before.
   */
  SkuLedger after(@Nullable SkuLedger known) {
    boolean mayLack = mayLackAfter(known);
    boolean balances = balanced && !mayLack;
    Instant since = balances || known == null ? null : known.unbalancedSince;
    if (!balances && (since == null || since.isAfter(readAt))) {
      since = readAt;
    }
    return new SkuLedger(
        skuId, decides, state, epoch, readAt, balances, since, units, orders, mysql, partition,
        queue, pool, shards, mayLack);
  }
}
