package io.seckill.gateway.verification;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.gateway.verification.RedisInspection.Observation;
import io.seckill.gateway.verification.StoredSales.Sale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StoredSalesTest {

  /** A sale is {@code <state>/<epoch>/<orders>/<stock changes>}. */
  @ParameterizedTest(name = "a server that lacks {0}")
  @CsvSource(
      delimiter = '|',
      value = {
        "nothing                            | OPEN/2/9/3   | OPEN/2/9/3     | false",
        "a withdrawal, top-up or move       | OPEN/2/9/3   | OPEN/2/9/2     | true",
        "it, and MySQL some orders          | OPEN/2/9/3   | OPEN/2/12/2    | true",
        "every change of the stock          | OPEN/2/0/1   | OPEN/2/0/0     | true",
        "an order                           | OPEN/2/9/3   | OPEN/2/8/3     | true",
        "a pause                            | PAUSED/2/9/3 | OPEN/2/9/3     | true",
        "a close                            | CLOSED/2/9/3 | OPEN/2/9/3     | true",
        "a resume, which sells nothing      | OPEN/2/9/3   | PAUSED/2/9/3   | false",
        "a rebuild                          | OPEN/2/9/0   | OPEN/1/9/3     | true",
        "nothing, and MySQL was read before | OPEN/1/9/3   | OPEN/2/9/0     | false",
        "a withdrawal, while it is loaded   | OPEN/2/9/3   | PREHEATING/0/9/0 | false",
      })
  void isNotSoldFrom(String name, String stored, String found, boolean suspect) {
    String[] inMySql = stored.split("/", -1);
    String[] inRedis = found.split("/", -1);
    Sale sale =
        new Sale(1, inMySql[0], false, number(inMySql[1]), number(inMySql[2]), number(inMySql[3]));
    Observation data =
        new Observation(inRedis[0], number(inRedis[1]), number(inRedis[2]), number(inRedis[3]));

    assertThat(sale.isSuspect(data, null)).as(name).isEqualTo(suspect);
  }

  /** MySQL may not have stored an order of it yet. */
  @Test
  void isNotSoldFromIfItLacksASaleThatThisGatewayHasSeenSelling() {
    Sale sale = new Sale(1, "CLOSED", false, 2, 0, 0);
    HighWaterMarks marks = new HighWaterMarks();
    assertThat(sale.isSuspect(Observation.ABSENT, marks.of(1))).isFalse();

    marks.record("a server", 1, 2, 1);

    assertThat(sale.isSuspect(Observation.ABSENT, marks.of(1))).isTrue();
  }

  private static long number(String text) {
    return Long.parseLong(text);
  }
}
