package io.seckill.gateway.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.support.web.ProblemCode;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RefusedRequestsTest {

  /** Of 404 and 503, the codes that are refused before anything is looked up. */
  private static final Set<ProblemCode> ALSO =
      Set.of(ProblemCode.NOT_FOUND, ProblemCode.UNAVAILABLE);

  private static final Set<Integer> STATUSES =
      Set.of(400, 401, 403, 405, 406, 413, 414, 415, 417, 429, 431, 501, 505);

  @ParameterizedTest
  @EnumSource
  void countsWhatIsRefusedForItsTokenRateOrForm(ProblemCode code) {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();

    new RefusedRequests(meters).count(code);

    double counted =
        meters.get("seckill.requests.refused").counters().stream()
            .filter(counter -> counter.count() == 1)
            .filter(counter -> code.name().equals(counter.getId().getTag("code")))
            .count();
    boolean isCounted = STATUSES.contains(code.status()) || ALSO.contains(code);
    assertThat(counted).isEqualTo(isCounted ? 1 : 0);
  }
}
