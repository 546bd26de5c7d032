package io.seckill.relay;

import static org.assertj.core.api.Assertions.assertThatCode;

import io.seckill.testing.mutation.Mutants;
import io.seckill.testing.mutation.Mutation;
import io.seckill.testing.mutation.MutationCase;
import io.seckill.testing.suite.Tiers;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A wrong product is found by the default tier: each test that a mutation names is in it. */
class RelayMutationTiersTest {

  @ParameterizedTest(name = "{0}")
  @MethodSource("io.seckill.relay.RelayMutationsIT#mutations")
  void theTestOfAMutationIsInTheDefaultTier(MutationCase mutation) {
    Tiers.assertInDefaultTier(mutation.test());
  }

  static List<Mutation> all() {
    return Mutants.all(RelayMutationsIT.mutations(), RelayMutations.class);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("all")
  void eachPartOfAMutationFindsWhatItChanges(Mutation mutation) {
    assertThatCode(() -> Mutants.change(mutation)).doesNotThrowAnyException();
  }
}
