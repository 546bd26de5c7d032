package io.seckill.bench.lab;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ServiceMetricsTest {

  @Test
  void addsUpTheSeriesOfAMetric() {
    String metrics =
        """
        # HELP a_size Orders
        a_size_count 4
        a_size_sum{lane="x"} 10.5
        a_size_sum{lane="y"} 2.0E1
        """;

    assertThat(ServiceMetrics.sum(metrics, "a_size_sum")).isEqualTo(30.5);
    assertThat(ServiceMetrics.sum(metrics, "b_size_sum")).isZero();
  }
}
