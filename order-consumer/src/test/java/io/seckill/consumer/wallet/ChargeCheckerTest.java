package io.seckill.consumer.wallet;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.consumer.wallet.WalletBatch.ChargeRow;
import io.seckill.support.contract.WalletKind;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowMapper;

/** Charges as entries book them, compared with the stored ones. */
class ChargeCheckerTest {

  private final WalletDifferences differences = new WalletDifferences();
  private final ChargeChecker charges =
      new ChargeChecker(new StoredCharges(), differences, () -> {});

  /** Every charge is one of 60 of user 7, and 20 of it are refunded. */
  private static final class StoredCharges extends JdbcTemplate {

    @Override
    @SuppressWarnings("unchecked") // charges are all that is read
    public <T> List<T> query(String sql, RowMapper<T> rowMapper, Object... ids) {
      return Arrays.stream(ids).map(id -> (T) new ChargeRow((Long) id, 7, 60, 20, true)).toList();
    }
  }

  private void charge(long user, long id) {
    charges.add(user, id, WalletKind.CHARGE, -60);
  }

  private void refund(long user, long id) {
    charges.add(user, id, WalletKind.REFUND, 20);
  }

  @Test
  void equalOnesAreForgotten() {
    int most = 0;
    for (long id = 1; id <= 50_000; id++) {
      charge(7, id);
      refund(7, id);
      most = Math.max(most, charges.size());
    }
    charges.endEntries();

    assertThat(most).isLessThanOrEqualTo(10_000);
    assertThat(differences.kept()).isEmpty();
  }

  /** The refunds come after all charges, as of a sale that was cancelled. */
  @Test
  void refundsMayFollowMuchLater() {
    for (long id = 1; id <= 15_000; id++) {
      charge(7, id);
    }
    for (long id = 1; id <= 15_000; id++) {
      refund(7, id);
    }
    charges.endEntries();

    assertThat(differences.kept()).isEmpty();
  }

  @Test
  void anEntryOfOneThatWasForgottenIsADifference() {
    for (long id = 1; id <= 10_000; id++) {
      charge(7, id);
      refund(7, id);
    }
    charge(7, 10_001);
    refund(7, 1);
    charges.endEntries();

    assertThat(differences.kept())
        .hasSize(2)
        .anyMatch(difference -> difference.startsWith("user 7: charge 1 is "));
  }

  /** It has booked neither as it is stored. */
  @Test
  void aChargeThatTwoUsersBookIsADifferenceOfBoth() {
    charge(7, 1);
    refund(8, 1);
    charges.endEntries();

    assertThat(differences.users()).containsExactly(7L, 8L);
  }

  @Test
  void aDifferenceIsReportedOnce() {
    charge(7, 1);
    charges.endEntries();
    charge(7, 2);
    refund(7, 2);
    charges.endEntries();

    assertThat(differences.kept())
        .singleElement()
        .asString()
        .isEqualTo(
            "user 7: charge 1 is ChargeRow[chargeId=1, userId=7, amountCents=60, refundedCents=20,"
                + " closed=true], but booked as 60, refunded 0");
  }
}
