package io.seckill.consumer.wallet;

import static io.seckill.testing.Eventually.eventually;
import static java.util.concurrent.CompletableFuture.runAsync;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.payment.PaymentProvider;
import io.seckill.common.payment.PaymentUnavailableException;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.support.contract.WalletKind;
import io.seckill.support.contract.WalletOperation;
import io.seckill.testing.Bounded;
import io.seckill.testing.PaymentProviderContract;
import io.seckill.testing.TestServers;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.transaction.support.TransactionOperations;

@ExtendWith(TestServers.class)
class WalletPaymentsIT extends PaymentProviderContract {

  private static final TestConsumer consumer = TestConsumer.shared();
  private static final Wallets wallets = consumer.bean(Wallets.class);
  private static final PaymentProvider payments =
      new WalletPayments(wallets, consumer.bean(WalletAccounts.class));

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

  /** Of 100. */
  @ParameterizedTest
  @ValueSource(longs = {30, 100})
  void refundsTheRestAfterAnOperatorHasRefundedSome(long cents) {
    OrderId order = new OrderId(payer << 4);
    provider().charge(new PaymentProvider.ChargeRequest(order, payer, 100));
    wallets.execute(operation(WalletKind.REFUND, "refund-01", cents, order.value()));
    assertThat(provider().find(order).isPresent()).isEqualTo(cents < 100);

    provider().refund(order);

    assertThat(provider().find(order)).isEmpty();
    assertThat(consumer.bean(WalletAccounts.class).balance(payer).balanceCents())
        .isEqualTo(1_000_000);
    assertThat(wallets.execute(operation(WalletKind.REFUND, "refund-02", 1, order.value())).code())
        .hasToString("CHARGE_CLOSED");
  }

  /** Its charge is found before its wallet is locked. */
  @Test
  void refundsTheRestWhenAnOperatorRefundsSomeMeanwhile() {
    OrderId order = new OrderId(payer << 4);
    provider().charge(new PaymentProvider.ChargeRequest(order, payer, 100));
    WalletOperation some = operation(WalletKind.REFUND, "refund-01", 30, order.value());

    CompletableFuture<Void> rest =
        consumer
            .bean(TransactionOperations.class)
            .execute(
                tx -> {
                  WalletTransactions.decide(
                      consumer.bean(JdbcOperations.class), List.of(some), false, true, true);
                  CompletableFuture<Void> refund = runAsync(() -> refundUnlessBusy(order));
                  eventually()
                      .until(
                          () ->
                              consumer
                                  .executing("SELECT%FROM wallet %" + payer + ") FOR UPDATE")
                                  .isPresent());
                  return refund;
                });
    Bounded.get(rest);

    assertThat(consumer.bean(WalletAccounts.class).balance(payer).balanceCents())
        .isEqualTo(1_000_000);
  }

  /** Repeats a refund whose lock was not free in time. */
  private static void refundUnlessBusy(OrderId order) {
    eventually()
        .ignoreExceptionsInstanceOf(PaymentUnavailableException.class)
        .untilAsserted(() -> payments.refund(order));
  }

  @Test
  void anOrderThatCostsNothingHasNoEntry() {
    OrderId order = new OrderId(payer << 4);

    assertThat(provider().charge(new PaymentProvider.ChargeRequest(order, payer, 0)))
        .isInstanceOf(PaymentProvider.Charge.Charged.class);
    assertThat(consumer.bean(WalletAccounts.class).balance(payer).seq()).isEqualTo(1);
  }

  private WalletOperation operation(
      WalletKind kind, String key, long cents, @Nullable Long charge) {
    return new WalletOperation(payer, kind, key, cents, charge, null);
  }
}
