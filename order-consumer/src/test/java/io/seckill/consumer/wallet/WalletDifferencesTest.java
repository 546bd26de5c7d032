package io.seckill.consumer.wallet;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WalletDifferencesTest {

  private final WalletDifferences differences = new WalletDifferences();

  @Test
  void countsAllAndDescribesTheFirst() {
    for (long user = 1; user <= 25_000; user++) {
      differences.add(user, "balance 1, but 0 after the last entry");
    }
    differences.add("order 7 is paid, but its charge is null");

    assertThat(differences.count()).isEqualTo(25_001);
    assertThat(differences.users()).as("all are frozen").hasSize(25_000);
    assertThat(differences.kept())
        .hasSize(10_000)
        .startsWith("user 1: balance 1, but 0 after the last entry");
  }

  @Test
  void describesEveryOneOfAFew() {
    differences.add(7, "entry 2 is missing");
    differences.add("charges of 60 have no entry");

    assertThat(differences.kept())
        .containsExactly("user 7: entry 2 is missing", "charges of 60 have no entry");
  }
}
