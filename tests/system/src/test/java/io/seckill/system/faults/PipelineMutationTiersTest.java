package io.seckill.system.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.consumer.ConsumerMutationsIT;
import io.seckill.gateway.GatewayMutationsIT;
import io.seckill.relay.RelayMutationsIT;
import io.seckill.system.faults.PipelineMutationsIT.MutatedRun;
import io.seckill.testing.mutation.Mutation;
import io.seckill.testing.mutation.MutationCase;
import io.seckill.testing.suite.Tiers;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A wrong pipeline is found by the default tier: by the row that a mutation fails, or, where that
 * row is left to the proof, by the test of the service that each of its mutations fails.
 */
class PipelineMutationTiersTest {

  @ParameterizedTest
  @MethodSource("io.seckill.system.faults.PipelineMutationsIT#runs")
  void aMutationIsFoundInTheDefaultTier(MutatedRun run) {
    if (Tiers.isInDefaultTier(run.row().toString())) {
      return;
    }
    assertThat(inServices())
        .as("mutations that a service's own test finds")
        .containsAll(run.changes());
  }

  /** Their own tests see to it that what finds them is in the default tier. */
  private static List<Mutation> inServices() {
    return Stream.of(
            ConsumerMutationsIT.mutations(),
            GatewayMutationsIT.mutations(),
            RelayMutationsIT.mutations())
        .flatMap(List::stream)
        .map(MutationCase::mutation)
        .toList();
  }
}
