package io.seckill.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SamplesTest {

  private final Samples samples = new Samples();

  @Test
  void takesTheMiddleOfAnOddNumberWhateverTheOrder() {
    samples.add(9);
    samples.add(1);
    samples.add(4);

    assertThat(samples.median()).isEqualTo(4);
    assertThat(samples.min()).isEqualTo(1);
    assertThat(samples.max()).isEqualTo(9);
  }

  @Test
  void takesTheMeanOfTheMiddleTwoOfAnEvenNumber() {
    samples.add(10);
    samples.add(2);
    samples.add(4);
    samples.add(100);

    assertThat(samples.median()).isEqualTo(7);
  }
}
