package io.seckill.gateway;

import io.seckill.testing.mutation.MutationCase;
import io.seckill.testing.suite.Tiers;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A wrong product is found by the default tier: each test that a mutation names is in it. */
class GatewayMutationTiersTest {

  @ParameterizedTest(name = "{0}")
  @MethodSource("io.seckill.gateway.GatewayMutationsIT#mutations")
  void theTestOfAMutationIsInTheDefaultTier(MutationCase mutation) {
    Tiers.assertInDefaultTier(mutation.test());
  }
}
