package io.seckill.consumer.reconciliation;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.consumer.reconciliation.DryRunConsent.UnlistedOrders;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The orders that a dry run has listed stand for others only when it could not list more. */
class DryRunConsentTest {

  private static final int MOST = RepairLog.MOST_KEPT;

  @Test
  void consentsToTheOrdersOfAllDryRunsTogether() {
    UnlistedOrders missing = new UnlistedOrders(List.of(ids(1, 2), ids(2, 3), Set.of()));
    missing.add(paid(1, 2, 3));

    assertThat(missing.objection()).isEmpty();
  }

  @Test
  void namesTheFirstOrdersThatNoDryRunHasListed() {
    UnlistedOrders missing = new UnlistedOrders(List.of(ids(1, 2)));
    IntStream.rangeClosed(1, 9).forEach(id -> missing.add(paid(id)));

    assertThat(missing.objection().orElseThrow())
        .contains("lost 7 orders", "listed them: 3, 4, 5, 6, 7, …. Reconcile");
  }

  @Test
  void consentsToTheOrdersBehindAFullList() {
    UnlistedOrders missing = new UnlistedOrders(List.of(idsUpTo(MOST)));
    missing.add(paid(1, MOST, MOST + 1)); // of one part: the list has ended in it
    missing.add(paid(MOST + 2));

    assertThat(missing.objection()).isEmpty();
  }

  @Test
  void consentsToNoOrderBeforeTheEndOfAFullList() {
    UnlistedOrders missing = new UnlistedOrders(List.of(idsUpTo(MOST)));
    missing.add(paid(1, MOST + 1)); // lost after the look
    missing.add(paid(MOST, MOST + 2));

    assertThat(missing.objection().orElseThrow())
        .contains("lost 1 orders", ": " + (MOST + 1) + ".");
  }

  @Test
  void consentsToNoOrderBehindAListThatIsNotFull() {
    UnlistedOrders missing = new UnlistedOrders(List.of(idsUpTo(MOST - 1)));
    missing.add(paid(1, MOST - 1));
    missing.add(paid(MOST));

    assertThat(missing.objection()).isPresent();
  }

  @Test
  void consentsToNoOrderThatCanBeSentAgain() {
    UnlistedOrders missing = new UnlistedOrders(List.of(ids(1)));
    missing.add(Map.of(new OrderId(1), order(OrderStatus.CONFIRMED)));

    assertThat(missing.objection().orElseThrow()).contains("1 orders that can be sent again");
  }

  private static Set<String> idsUpTo(int last) {
    return IntStream.rangeClosed(1, last)
        .mapToObj(id -> new OrderId(id).toString())
        .collect(Collectors.toSet());
  }

  private static Set<String> ids(int... ids) {
    return IntStream.of(ids).mapToObj(id -> new OrderId(id).toString()).collect(Collectors.toSet());
  }

  private static Map<OrderId, AdmissionRecord> paid(int... ids) {
    return IntStream.of(ids)
        .mapToObj(OrderId::new)
        .collect(Collectors.toMap(id -> id, id -> order(OrderStatus.PAID)));
  }

  private static AdmissionRecord order(OrderStatus status) {
    return new AdmissionRecord(1, "request", 1, 1, 1, 1, status, null, 1, null);
  }
}
