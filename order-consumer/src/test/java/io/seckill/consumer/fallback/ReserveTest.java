package io.seckill.consumer.fallback;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReserveTest {

  @ParameterizedTest
  @CsvSource({
    "0, 0, 100, 0",
    "40, 30, 70, 10",
    "30, 40, 60, 0", // a late order of an earlier epoch
    "100, 0, 60, 60" // never more than there is; of known size, although it takes all stock
  })
  void isWhatIsKnownWhenAllGatewaysHaveToldAll(
      long admitted, long decided, long stock, long units) {
    assertThat(Reserve.of(admitted, decided, true, stock)).isEqualTo(new Reserve(units, false));
  }

  @ParameterizedTest
  @CsvSource({"0, 0, 100", "40, 30, 70", "30, 40, 1000000000", "1, 0, 0"})
  void isAllStockOtherwise(long admitted, long decided, long stock) {
    assertThat(Reserve.of(admitted, decided, false, stock)).isEqualTo(new Reserve(stock, true));
  }
}
