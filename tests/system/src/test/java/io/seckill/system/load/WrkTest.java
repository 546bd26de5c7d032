package io.seckill.system.load;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WrkTest {

  private static final String SAID =
      """
      Running 3s test @ http://127.0.0.1:8080
        1 threads and 64 connections
        Thread Stats   Avg      Stdev     Max   +/- Stdev
          Latency     1.92ms  733.00us  15.11ms   78.39%
        Latency Distribution
           50%  850.00us
           75%    2.15ms
           90%    2.70ms
           99%    4.50ms
        100350 requests in 3.01s, 20.00MB read
        Socket errors: connect 1, read 2, write 3, timeout 4
        Non-2xx or 3xx responses: 350
      Requests/sec:  33450.25
      Transfer/sec:      6.65MB
      Rounds: 2
      """;

  @Test
  void readsWhatWrkSays() {
    assertThat(Wrk.parse(SAID))
        .isEqualTo(new Wrk.Result(33_450.25, 100_350, 350, 10, 2, 0.85, 4.5));
  }

  @Test
  void countsAsFailedWhatIsNeitherOkNorARefusal() {
    Wrk.Result result = Wrk.parse(SAID);

    assertThat(result.failed(0)).isEqualTo(350 + 10);
    assertThat(result.failed(300)).isEqualTo(50 + 10);
    assertThat(result.failed(351)).as("one was refused after wrk had left").isEqualTo(10);
  }

  @Test
  void takesSilenceAboutErrorsForNone() {
    String said =
        SAID.lines()
            .filter(line -> !line.matches(".*(errors|Non-2xx).*"))
            .reduce("", (all, line) -> all + line + "\n");

    assertThat(Wrk.parse(said).notOk()).isZero();
    assertThat(Wrk.parse(said).socketErrors()).isZero();
  }
}
