package io.seckill.consumer.wallet;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.consumer.wallet.WalletBatch.ChargeRow;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class BookedChargesTest {

  private final BookedCharges charges = new BookedCharges(BookedChargesTest::stored);

  /** Every charge is one of 60, and 20 of it are refunded. */
  private static Map<Long, ChargeRow> stored(Collection<Long> ids) {
    return ids.stream()
        .map(id -> new ChargeRow(id, 7, 60, 20, true))
        .collect(Collectors.toMap(ChargeRow::chargeId, Function.identity()));
  }

  @Test
  void equalOnesAreForgotten() {
    int most = 0;
    for (long id = 1; id <= 50_000; id++) {
      charges.add(7, id, 60, 0);
      charges.add(7, id, 0, 20);
      most = Math.max(most, charges.size());
    }

    assertThat(most).isLessThanOrEqualTo(10_000);
    assertThat(differences()).isEmpty();
    assertThat(charges.equalCents()).isEqualTo(50_000 * 60);
  }

  /** The refunds come after all charges, as of a sale that was cancelled. */
  @Test
  void refundsMayFollowMuchLater() {
    for (long id = 1; id <= 15_000; id++) {
      charges.add(7, id, 60, 0);
    }
    for (long id = 1; id <= 15_000; id++) {
      charges.add(7, id, 0, 20);
    }

    assertThat(differences()).isEmpty();
    assertThat(charges.equalCents()).isEqualTo(15_000 * 60);
  }

  @Test
  void anEntryOfOneThatWasForgottenIsADifference() {
    charges.add(7, 1, 60, 20);
    assertThat(differences()).isEmpty();

    charges.add(7, 1, 0, 5);

    assertThat(differences()).singleElement().asString().startsWith("7 charge 1 is ");
  }

  /** Neither has booked the charge as it is stored. */
  @Test
  void aChargeThatTwoUsersBookIsADifferenceOfBoth() {
    charges.add(7, 1, 60, 0);
    charges.add(8, 1, 0, 20);

    assertThat(differences())
        .extracting(difference -> difference.substring(0, 14))
        .containsExactlyInAnyOrder("7 charge 1 is ", "8 charge 1 is ");
  }

  private List<String> differences() {
    List<String> differences = new ArrayList<>();
    charges.compare((user, difference) -> differences.add(user + " " + difference));
    return differences;
  }
}
