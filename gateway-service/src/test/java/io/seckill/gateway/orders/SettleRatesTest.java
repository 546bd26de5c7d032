package io.seckill.gateway.orders;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SettleRatesTest {

  private static final long SKU = 7;
  private static final long NOW = 1_790_000_000_000L;

  private final SettleRates rates = new SettleRates();

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      value = {
        "unknown at the first read            | 0:100                      |   -1",
        "between two reads                    | 0:100 2000:120             | 5000",
        "of the last interval                 | 0:100 2000:120 4000:220    | 1000",
        "not of a moment                      | 0:100 999:120              |   -1",
        "while a batch takes long             | 0:100 2000:120 9000:120    | 5000",
        "of all the time that a batch took    | 0:100 10000:150            | 10000",
        "forgotten when nothing is settled    | 0:100 2000:120 17001:120   |   -1",
        "forgotten when a sale is loaded anew | 0:100 2000:120 4000:0      |   -1",
        "not of a late reading                | 0:100 2000:120 1990:119    | 5000",
        "not of a clock set back              | 0:100 2000:120 -9000:130   | 5000",
      })
  void expectsTheWaitFromTheRate(String name, String reads, long expectedMs) {
    for (String read : reads.split(" ", -1)) {
      String[] part = read.split(":", -1);
      rates.read(SKU, Long.parseLong(part[1]), NOW + Long.parseLong(part[0]));
    }

    assertThat(rates.expectedMs(SKU, 50)).isEqualTo(expectedMs);
    assertThat(rates.expectedMs(SKU + 1, 50)).isEqualTo(-1);
  }
}
