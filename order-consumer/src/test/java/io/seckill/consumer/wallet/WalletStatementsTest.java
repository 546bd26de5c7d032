package io.seckill.consumer.wallet;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WalletStatementsTest {

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "1, 0",
    "1, 1",
    "2, 1",
    "7, 3",
    "7, 7",
    "1000000, 0",
    "1000000, 999999",
    "9223372036854775807, 9223372036854775807",
    "9223372036854775807, 12"
  })
  void findsTheLastNumberByFewReads(long most, long last) {
    AtomicInteger reads = new AtomicInteger();

    long found =
        WalletStatements.last(
            most,
            seq -> {
              reads.incrementAndGet();
              assertThat(seq).isBetween(1L, most);
              return seq <= last;
            });

    assertThat(found).isEqualTo(last);
    assertThat(reads.get()).isLessThanOrEqualTo(64 - Long.numberOfLeadingZeros(most));
  }
}
