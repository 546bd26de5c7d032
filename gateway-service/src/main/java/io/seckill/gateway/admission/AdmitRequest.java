package io.seckill.gateway.admission;

import io.seckill.common.order.OrderId;
import io.seckill.common.redis.RedisKeys;
import io.seckill.relay.lane.LaneMailbox.Reservation;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One call of {@code admit.lua}.
 *
 * @param server the replication id that all these partitions were verified with
 * @param partitions in the order of the script's keys
 * @param purchases 1..64
 * @param ids of the orders that the purchases may become
 * @param reservations room in the lane of each partition; null where orders go to the outbox
 * @param args of the script
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
