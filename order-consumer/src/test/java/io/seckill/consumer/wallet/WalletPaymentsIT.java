package io.seckill.consumer.wallet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.payment.PaymentProvider;
import io.seckill.consumer.payment.PaidBy;
import io.seckill.consumer.testing.Races;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredOrderFixture;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.support.contract.WalletKind;
import io.seckill.support.contract.WalletOperation;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import io.seckill.testing.PaymentProviderContract;
import io.seckill.testing.TestServers;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(TestServers.class)
class WalletPaymentsIT extends PaymentProviderContract {

  private static final TestConsumer consumer = TestConsumer.shared();
  private static final Wallets wallets = consumer.bean(Wallets.class);
  private static final PaymentProvider payments =
      new WalletPayments(wallets, consumer.bean(WalletAccounts.class));

  private static final AtomicLong NEXT_SKU = new AtomicLong(28_001);
  private static final StoredOrderFixture orders = new StoredOrderFixture(consumer);
  private static final PaidBy paidBy = new PaidBy(payments, consumer);

  private final long sku = NEXT_SKU.getAndIncrement();
  private final long payer = ThreadLocalRandom.current().nextLong(1L << 40, 1L << 50);

  @Override
  protected PaymentProvider provider() {
    return payments;
  }

  @Override
  protected long payer() {
    return payer;
  }

  /** More than the wallet ever has. */
  @Override
  protected OptionalLong declinedCents() {
    return OptionalLong.of(1_000_000_000);
  }

  @BeforeEach
  void recharge() {
    wallets.execute(operation(WalletKind.RECHARGE, "recharge-1", 1_000_000, null));
  }

  @Test
  void refundsTheRestAfterAnOperatorHasRefundedSome() {
    OrderId order = new OrderId(payer << 4);
    provider().charge(new PaymentProvider.ChargeRequest(order, payer, 100));
    wallets.execute(operation(WalletKind.REFUND, "refund-01", 30, order.value()));

    provider().refund(order);

    assertThat(provider().find(order)).isEmpty();
    assertThat(consumer.bean(WalletAccounts.class).balance(payer).balanceCents())
        .isEqualTo(1_000_000);
    assertThat(wallets.execute(operation(WalletKind.REFUND, "refund-02", 1, order.value())).code())
        .hasToString("CHARGE_CLOSED");
  }

  @Test
  void anOrderThatCostsNothingHasNoEntry() {
    OrderId order = new OrderId(payer << 4);

    assertThat(provider().charge(new PaymentProvider.ChargeRequest(order, payer, 0)))
        .isInstanceOf(PaymentProvider.Charge.Charged.class);
    assertThat(consumer.bean(WalletAccounts.class).balance(payer).seq()).isEqualTo(1);
  }

  @Test
  void aChargeAndItsOrderAreOneTransaction() {
    open(10);
    OrderId order = orders.confirmed(sku, payer, 2);

    assertThat(paidBy.pay(order, payer).status()).isEqualTo(OrderStatus.PAID);
    assertThat(paidBy.pay(order, payer).status()).isEqualTo(OrderStatus.PAID);

    assertThat(balance()).isEqualTo(1_000_000 - 2 * 9_900);
    assertThat(
            consumer.text(
                "SELECT CONCAT_WS(' ', state, charge_id, amount_cents, check_at) FROM payment"
                    + " WHERE order_id = ?",
                order.value()))
        .isEqualTo("CHARGED wallet-" + order + " 19800");
    assertThatThrownBy(() -> paidBy.pay(order, payer + 1)).hasMessageStartingWith("UNKNOWN_ORDER");
  }

  /** A refusal stores nothing. */
  @Test
  void aPoorShopperPaysAfterARecharge() {
    open(200);
    OrderId order = orders.confirmed(sku, payer, 102);

    assertThatThrownBy(() -> paidBy.pay(order, payer)).hasMessageStartingWith("PAYMENT_DECLINED");
    assertThat(consumer.number("SELECT COUNT(*) FROM payment WHERE order_id = ?", order.value()))
        .isZero();
    wallets.execute(operation(WalletKind.RECHARGE, "recharge-2", 9_800, null));
    assertThat(paidBy.pay(order, payer).status()).isEqualTo(OrderStatus.PAID);
    assertThat(balance()).isZero();
  }

  /** A former process charged it, and died before it marked the order. */
  @Test
  void anOrderThatIsChargedAlreadyIsPaidOnce() {
    open(10);
    OrderId order = orders.confirmed(sku, payer, 1);
    provider().charge(new PaymentProvider.ChargeRequest(order, payer, 9_900));

    assertThat(paidBy.pay(order, payer).status()).isEqualTo(OrderStatus.PAID);
    assertThat(balance()).isEqualTo(1_000_000 - 9_900);
  }

  @Test
  void theCheckComparesChargesWithOrders() {
    open(10);
    OrderId order = orders.confirmed(sku, payer, 1);
    provider().charge(new PaymentProvider.ChargeRequest(order, payer, 9_900));
    assertThat(differences()).contains("order " + order.value() + " is CONFIRMED, but charged");

    paidBy.pay(order, payer);
    assertThat(differences()).doesNotContain("" + order.value());

    consumer.update("UPDATE wallet_charge SET closed = TRUE WHERE charge_id = ?", order.value());
    assertThat(differences()).contains("order " + order.value() + " is paid, but its charge is");
    consumer.update("UPDATE wallet_charge SET closed = FALSE WHERE charge_id = ?", order.value());
  }

  private static String differences() {
    return consumer.bean(WalletCheck.class).checkWhole().detail().toString();
  }

  /** Whichever comes first, money and order agree. */
  @Test
  void paymentsAgainstCancels() {
    open(100);
    for (int race = 0; race < 20; race++) {
      OrderId order = orders.confirmed(sku, payer, 1);
      Races.race(
          List.of(
              () -> {
                try {
                  paidBy.pay(order, payer);
                } catch (ProblemException e) {
                  assertThat(e.problem().code()).isEqualTo(ProblemCode.NOT_PAYABLE);
                }
              },
              () -> consumer.api().cancel(order, payer)));
    }

    long paid =
        consumer.number("SELECT COUNT(*) FROM orders WHERE sku_id = ? AND status = 'PAID'", sku);
    assertThat(
            consumer.number(
                "SELECT COUNT(*) FROM orders WHERE sku_id = ? AND status = 'CANCELLED'", sku))
        .isEqualTo(20 - paid);
    assertThat(balance()).isEqualTo(1_000_000 - 9_900 * paid);
  }

  private void open(long stock) {
    new Sales(consumer).open(sku, "UNLIMITED", 0, stock);
  }

  private long balance() {
    return consumer.bean(WalletAccounts.class).balance(payer).balanceCents();
  }

  private WalletOperation operation(
      WalletKind kind, String key, long cents, @Nullable Long charge) {
    return new WalletOperation(payer, kind, key, cents, charge, null);
  }
}
