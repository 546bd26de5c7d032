package io.seckill.system.faults;

import io.seckill.testing.suite.Tiers;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A wrong pipeline is found by the default tier: each row that a mutation fails is in it. */
class PipelineMutationTiersTest {

  @ParameterizedTest
  @MethodSource("io.seckill.system.faults.PipelineMutationsIT#rows")
  void theRowOfAMutationIsInTheDefaultTier(String row) {
    Tiers.assertInDefaultTier(row);
  }
}
