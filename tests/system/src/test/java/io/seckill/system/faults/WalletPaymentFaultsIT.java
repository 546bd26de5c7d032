package io.seckill.system.faults;

import static io.seckill.testing.Eventually.SOON;
import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.system.agent.inside.PointAction;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.system.shop.Answer;
import io.seckill.system.shop.ShopClient;
import io.seckill.testing.TestServers;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Payments from wallets: processes killed while the gateway waits for the answer to a list of them
 * that MySQL has committed, and data lost at RabbitMQ.
 */
@Tag("proof")
@ExtendWith({TestServers.class, FaultLabExtension.class})
class WalletPaymentFaultsIT {

  /** Every shopper has two orders, every other one money for one of them. */
  private static final long PRICE = 1_999;

  private static final long RICH = 10 * PRICE;
  private static final long POOR = PRICE + 1;

  /** Their orders are more than a call takes, so a second call follows the first. */
  private static final int SHOPPERS = 40;

  private final FaultLab lab;

  /** User of each order. */
  private final Map<String, Long> orders = new HashMap<>();

  /** Orders that a shopper has seen PAID. */
  private final Set<String> answered = ConcurrentHashMap.newKeySet();

  private SaleOffer sale;

  WalletPaymentFaultsIT(FaultLab lab) {
    this.lab = lab;
  }

  @BeforeEach
  void payFromWallets() {
    for (ServiceInstance consumer : lab.consumers()) {
      consumer.kill();
      consumer.restart(Map.of("SECKILL_PAYMENT_PROVIDER", "wallet"));
    }
    lab.awaitHealed();
    sale = lab.plenty().strong();
    lab.open(sale);
  }

  /** The lab starts them again as they were. */
  @AfterEach
  void payAsBefore() {
    lab.consumers().forEach(ServiceInstance::kill);
  }

  @Test
  @DisplayName("80: gateway killed while it waits for payments that are committed")
  void gatewayKilled() {
    killedAfterCommit(lab.gateway(1));
  }

  @Test
  @DisplayName("80: order-consumer killed after the COMMIT of payments, before its answer")
  void consumerKilled() {
    killedAfterCommit(lab.consumer(1));
  }

  /** In demo mode every shopper of the load has money; {@code StoredOnce} looks at the charges. */
  @Test
  @DisplayName("80: broker data lost while orders are paid from wallets")
  void brokerDataLost() {
    long before = charges();
    new DataLossIT(lab).losesRabbit("80 broker data lost, orders paid from wallets");

    assertThat(charges()).as("payments from wallets").isGreaterThan(before);
    assertWalletsAreSound();
  }

  private long charges() {
    return lab.database().number("SELECT COUNT(*) FROM wallet_entry WHERE kind = 'CHARGE'");
  }

  private void killedAfterCommit(ServiceInstance victim) {
    ServiceInstance consumer = lab.consumer(1);
    List<CompletableFuture<?>> calls = new ArrayList<>();
    Set<String> unanswered = Set.of();
    while (unanswered.size() < 2) { // a call may have one payment only
      consumer.agent().release(Failpoints.PAYMENTS_COMMITTED);
      Map<String, Long> bought = buy();
      orders.putAll(bought);
      consumer.agent().arm(Failpoints.PAYMENTS_COMMITTED, PointAction.PAUSE, 2);
      bought.forEach((order, user) -> calls.add(pay(lab.shops().get(0), order, user)));
      consumer.agent().awaitReached(Failpoints.PAYMENTS_COMMITTED, SOON);
      unanswered = paidLast();
    }
    victim.kill();
    Signals.await(
        "all shoppers to have an answer or none",
        () -> calls.stream().allMatch(CompletableFuture::isDone));
    assertThat(answered).as("seen PAID, before the repeat").doesNotContainAnyElementsOf(unanswered);

    orders.forEach(this::repeat);
    assertThat(answered).containsAll(unanswered);
    if (victim != consumer) {
      consumer.agent().release(Failpoints.PAYMENTS_COMMITTED);
    }
    lab.heal();
    lab.awaitHealed();

    assertChargedOnce();
  }

  private Map<String, Long> buy() {
    Map<String, Long> bought = new HashMap<>();
    for (int i = 0; i < SHOPPERS; i++) {
      long user = sale.skuId() * 1_000_000 + orders.size() + i;
      lab.admin().recharge(user, money(user), "recharge-" + user);
      for (String key : List.of("first-order", "second-order")) {
        Answer answer = lab.shops().get(0).buy(user, sale.skuId(), 1, key);
        assertThat(answer.text("status")).as("%s", answer).isEqualTo("CONFIRMED");
        bought.put(answer.text("orderId"), user);
      }
    }
    return bought;
  }

  private static long money(long user) {
    return user % 2 == 0 ? RICH : POOR;
  }

  private CompletableFuture<Answer> pay(ShopClient shop, String order, long user) {
    return shop.payAsync(user, order).thenApply(answer -> seen(order, answer));
  }

  private Answer seen(String order, Answer answer) {
    if (answer.text("status").equals("PAID")) {
      answered.add(order);
    }
    return answer;
  }

  /** The other gateway has the other order-consumer. */
  private void repeat(String order, long user) {
    Signals.await(
        "the payment of " + order + " to be decided",
        () -> {
          Answer answer = seen(order, lab.shops().get(1).pay(user, order));
          return answer.text("status").equals("PAID") || answer.code().equals("PAYMENT_DECLINED");
        });
  }

  private Set<String> paid() {
    String sql = "SELECT order_id FROM orders WHERE sku_id = ? AND status = 'PAID'";
    return new HashSet<>(lab.database().rows(sql, row -> row.getString(1), sale.skuId()));
  }

  /** The orders of the latest transaction, whose entries are one statement. */
  private Set<String> paidLast() {
    String charges =
        " FROM wallet_entry e JOIN orders o ON o.order_id = e.charge_id WHERE o.sku_id = "
            + sale.skuId();
    String sql =
        "SELECT e.charge_id"
            + charges
            + " AND e.created_at = (SELECT MAX(e.created_at)"
            + charges
            + ")";
    return new HashSet<>(lab.database().rows(sql, row -> row.getString(1)));
  }

  private void assertChargedOnce() {
    assertThat(paid()).isEqualTo(answered);
    Set<String> poor = new HashSet<>(orders.keySet());
    poor.removeIf(order -> money(orders.get(order)) == RICH);
    assertThat(answered).hasSize(orders.size() - poor.size() / 2);
    String charges =
        "SELECT e.charge_id FROM wallet_entry e JOIN orders o ON o.order_id = e.charge_id"
            + " WHERE o.sku_id = ? AND e.kind = 'CHARGE' AND e.amount_cents = "
            + -PRICE;
    assertThat(lab.database().rows(charges, row -> row.getString(1), sale.skuId()))
        .containsExactlyInAnyOrderElementsOf(answered);
    for (long user : Set.copyOf(orders.values())) {
      assertThat(lab.database().number("SELECT balance_cents FROM wallet WHERE user_id = ?", user))
          .as("balance of %d", user)
          .isEqualTo(money(user) == RICH ? RICH - 2 * PRICE : POOR - PRICE);
    }
    assertWalletsAreSound();
  }

  private void assertWalletsAreSound() {
    Answer check = // another one may be running
        eventually("a check of the wallets")
            .until(lab.admin()::checkWallets, answer -> answer.status() == 200);
    assertThat(check.json().path("detail")).as("%s", check).isEmpty();
    assertThat(check.json().path("whole").asBoolean()).as("%s", check).isTrue();
  }
}
