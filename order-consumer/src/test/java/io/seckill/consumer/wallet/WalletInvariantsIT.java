package io.seckill.consumer.wallet;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.consumer.testing.TestConsumer;
import io.seckill.support.contract.WalletKind;
import io.seckill.support.contract.WalletOperation;
import io.seckill.testing.TestServers;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.dao.DataAccessException;

/**
 * What keeps the promises about wallets: for each one, a change by hand that would break it, and
 * the constraint or trigger that refuses the change, or the difference that the check finds.
 */
@ExtendWith(TestServers.class)
class WalletInvariantsIT {

  private static final AtomicLong NEXT = new AtomicLong(3_900_000);
  private static final TestConsumer consumer = TestConsumer.shared();

  private final long user = NEXT.addAndGet(2);

  /**
   * Before the attempt, USER has recharged 100 and paid 60 by a charge whose id is USER. W10 is
   * that all this is in MySQL: {@code ConsumerArchitectureTest}.
   */
  @ParameterizedTest(name = "{0} {1}")
  @CsvSource(
      delimiter = '|',
      value = {
        "W1 balance >= 0|UPDATE wallet SET balance_cents = -1 WHERE user_id ="
            + " USER||ck_wallet_balance",
        "W1 balance >= 0|INSERT INTO wallet_entry (user_id, seq, kind, amount_cents, balance_after,"
            + " request_id) VALUES (USER, 3, 'CHARGE', -41, -1, 'k3')||ck_wallet_entry",
        "W2 balance = sum of amounts|UPDATE wallet SET balance_cents = 41 WHERE user_id = USER"
            + "|UPDATE wallet SET balance_cents = 40 WHERE user_id = USER"
            + "|user USER: balance 41, but 40 after the last entry",
        "W3 wallets and house accounts = 0|INSERT INTO wallet_entry (user_id, seq, kind,"
            + " amount_cents, balance_after, request_id) VALUES (OTHER, 1, 'RECHARGE', 5, 5, 'k1')"
            + "|INSERT INTO wallet (user_id, balance_cents, seq, state)"
            + " VALUES (OTHER, 5, 1, 'ACTIVE')|user OTHER has entries and no wallet",
        "W3 wallets and house accounts = 0|INSERT INTO wallet_entry (user_id, seq, kind,"
            + " amount_cents, balance_after, request_id) VALUES (9223372036854775807, 1,"
            + " 'RECHARGE', 5, 5, 'k1')|INSERT INTO wallet (user_id, balance_cents, seq, state)"
            + " VALUES (9223372036854775807, 5, 1, 'ACTIVE')|user 9223372036854775807 has entries"
            + " and no wallet",
        "W3 wallets and house accounts = 0|DELETE FROM wallet WHERE user_id = USER"
            + "|INSERT INTO wallet (user_id, balance_cents, seq, state)"
            + " VALUES (USER, 40, 2, 'ACTIVE')|user USER has entries and no wallet",
        "W7 success has its entry|INSERT INTO wallet_entry (user_id, seq, kind, amount_cents,"
            + " balance_after, request_id) VALUES (OTHER, 1, 'RECHARGE', 5, 5, 'k1'),"
            + " (OTHER, 2, 'CHARGE', -5, 0, 'k2')"
            + "|INSERT INTO wallet (user_id, balance_cents, seq, state)"
            + " VALUES (OTHER, 0, 2, 'ACTIVE')|user OTHER has entries and no wallet",
        "W4 one entry per user and key|INSERT INTO wallet_entry (user_id, seq, kind, amount_cents,"
            + " balance_after, request_id) VALUES (USER, 3, 'RECHARGE', 1, 41, 'recharge-0')"
            + "||uk_wallet_request",
        "W5 refunded <= charged|UPDATE wallet_charge SET refunded_cents = 61"
            + " WHERE charge_id = USER||ck_wallet_refunded",
        "W5 refunds = refunded|UPDATE wallet_charge SET refunded_cents = 1 WHERE charge_id = USER"
            + "|UPDATE wallet_charge SET refunded_cents = 0 WHERE charge_id = USER"
            + "|user USER: charge USER is",
        "W6 PAID = one charge|INSERT INTO payment (order_id, amount_cents, charge_id, state)"
            + " VALUES (OTHER, 60, 'wallet-OTHER', 'CHARGED')"
            + "|DELETE FROM payment WHERE order_id = OTHER"
            + "|order OTHER is paid, but its charge is null",
        "W7 success has its entry|UPDATE wallet SET seq = 3 WHERE user_id = USER"
            + "|UPDATE wallet SET seq = 2 WHERE user_id = USER"
            + "|user USER: seq 3, but the last entry is 2",
        "W8 a charge is made once|INSERT INTO wallet_charge (charge_id, user_id, amount_cents,"
            + " refunded_cents, closed) VALUES (USER, USER, 60, 0, FALSE)||PRIMARY",
        "W9 entries never change|UPDATE wallet_entry SET reason = 'x' WHERE user_id = USER"
            + "||entries of wallets never change",
        "W9 entries never change|DELETE FROM wallet_entry WHERE user_id = USER"
            + "||entries of wallets never change",
      })
  void isKept(String promise, String attempt, @Nullable String undo, String keeper) {
    Wallets wallets = consumer.bean(Wallets.class);
    wallets.execute(of(WalletKind.RECHARGE, "recharge-0", 100, null));
    wallets.execute(of(WalletKind.CHARGE, "charge-001", 60, user));

    if (undo == null) {
      assertThat(refusal(attempt)).contains(keeper);
    } else {
      assertThat(consumer.update(filled(attempt))).as(promise).isPositive();
      String found = check();
      consumer.update(filled(undo));
      assertThat(found).contains(filled(keeper)).doesNotContain("have no entry");
    }
    assertThat(check()).doesNotContain("" + user, "" + (user + 1), "no wallet");
  }

  private WalletOperation of(WalletKind kind, String key, long cents, @Nullable Long charge) {
    return new WalletOperation(user, kind, key, cents, charge, null);
  }

  private String filled(String text) {
    return text.replace("USER", "" + user).replace("OTHER", "" + (user + 1));
  }

  /** What MySQL says about a change; empty when it was made. */
  private String refusal(String change) {
    try {
      consumer.update(filled(change));
      return "";
    } catch (DataAccessException e) {
      return "" + e.getMostSpecificCause().getMessage();
    }
  }

  /** The scheduled check may be running. */
  private static String check() {
    return eventually()
        .until(
            () -> consumer.api().post("/internal/v1/wallet/check"),
            answer -> answer.status() == 200)
        .text();
  }
}
