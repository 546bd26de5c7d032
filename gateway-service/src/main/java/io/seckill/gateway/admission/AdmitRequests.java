package io.seckill.gateway.admission;

import io.seckill.common.order.OrderId;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.fallback.Promises;
import io.seckill.gateway.verification.VerifiedServers;
import io.seckill.relay.lane.LaneMailbox;
import io.seckill.relay.lane.LaneMailbox.Reservation;
import io.seckill.support.contract.ProductRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Makes the calls of {@code admit.lua}: order ids, room in the lanes, arguments. Thread-safe.
 *
 * @param orderIds returns a new id of a partition, unique over all gateways; null while this
 *     gateway holds no worker number
 * @param products a SKU's row in MySQL; null when it is not known
 * @param lanes this gateway's lanes, one per partition; empty unless durable in the broker
 */
record AdmitRequests(
    VerifiedServers servers,
    Promises promises,
    IntFunction<@Nullable OrderId> orderIds,
    LongFunction<@Nullable ProductRow> products,
    List<LaneMailbox> lanes,
    Durability durability) {

  private static final int FIELDS = 8;
  private static final int HEAD = 2;

  /**
   * Answers the purchases that cannot be sent. Returns the call for the others; null when none is
   * left.
   */
  @Nullable AdmitRequest of(List<Purchase> purchases) {
    @Nullable String server = null;
    List<Integer> partitions = new ArrayList<>();
    List<Purchase> sent = new ArrayList<>(purchases.size());
    List<OrderId> ids = new ArrayList<>(purchases.size());
    for (Purchase purchase : purchases) {
      int partition = purchase.partition();
      // Read the server before making ids: it is verified only after it has confirmed the lease.
      String verified = servers.replicationId(partition);
      @Nullable OrderId id = verified == null ? null : orderIds.apply(partition);
      // It has waited; sent now, it would take stock that may not be promised.
      if (!promises.mayConfirm(purchase.attempt().skuId())) {
        purchase.answer(Unknown.FALLBACK);
      } else if (verified == null || (server != null && !server.equals(verified))) {
        purchase.answer(Unknown.UNVERIFIED);
      } else if (servers.isQuarantined(purchase.attempt().skuId())) {
        // While it waited, and before this server was verified: it has lost orders.
        purchase.answer(Unknown.QUARANTINED);
      } else if (id == null) {
        purchase.answer(Unknown.NO_WORKER);
      } else {
        server = verified;
        sent.add(purchase);
        ids.add(id);
        if (!partitions.contains(partition)) {
          partitions.add(partition);
        }
      }
    }
    if (server == null) {
      return null;
    }
    List<@Nullable Reservation> reservations = reserve(partitions, sent);
    return new AdmitRequest(
        server,
        partitions,
        sent,
        ids,
        reservations,
        arguments(server, partitions, sent, ids, reservations));
  }

  /** Null for a lane without room. */
  private List<@Nullable Reservation> reserve(List<Integer> partitions, List<Purchase> sent) {
    List<@Nullable Reservation> reservations = new ArrayList<>(partitions.size());
    for (int partition : partitions) {
      reservations.add(lanes.isEmpty() ? null : lanes.get(partition).reserve(in(partition, sent)));
    }
    return reservations;
  }

  private static int in(int partition, List<Purchase> sent) {
    return (int) sent.stream().filter(one -> one.partition() == partition).count();
  }

  private List<String> arguments(
      String server,
      List<Integer> partitions,
      List<Purchase> sent,
      List<OrderId> ids,
      List<@Nullable Reservation> reservations) {
    List<String> args = new ArrayList<>(HEAD + partitions.size() + FIELDS * sent.size());
    args.add(server);
    args.add(durability.in().name());
    reservations.forEach(room -> args.add(room == null ? "" : room.token()));
    for (int i = 0; i < sent.size(); i++) {
      PurchaseAttempt attempt = sent.get(i).attempt();
      args.add(Integer.toString(partitions.indexOf(attempt.partition()) + 1));
      args.add(Long.toString(attempt.skuId()));
      args.add(Long.toString(attempt.userId()));
      args.add(attempt.requestId());
      args.add(Integer.toString(attempt.quantity()));
      args.add(ids.get(i).toString());
      args.add(attempt.traceparent() == null ? "" : attempt.traceparent());
      ProductRow product = products.apply(attempt.skuId());
      args.add(product == null ? "0" : Long.toString(product.epoch()));
    }
    return args;
  }

  /**
   * One call of {@code admit.lua}.
   *
   * @param server the replication id that all these partitions were verified with
   * @param partitions in the order of the script's keys
   * @param purchases 1..64
   * @param ids of the orders that the purchases may become
   * @param reservations room in the lane of each partition; null where orders go to the outbox
   */
  record AdmitRequest(
      String server,
      List<Integer> partitions,
      List<Purchase> purchases,
      List<OrderId> ids,
      List<@Nullable Reservation> reservations,
      List<String> args) {

    List<String> keys() {
      return partitions.stream().map(RedisKeys::outbox).toList();
    }

    void answerAll(Admission outcome) {
      purchases.forEach(purchase -> purchase.answer(outcome));
    }

    void endReservations(Consumer<Reservation> end) {
      reservations.stream().filter(Objects::nonNull).forEach(end);
    }
  }
}
