package io.seckill.relay;

import io.seckill.relay.lane.MutantLane;
import io.seckill.relay.publish.MutantLink;
import io.seckill.testing.TestServers;
import io.seckill.testing.mutation.Mutants;
import io.seckill.testing.mutation.Mutation;
import io.seckill.testing.mutation.MutationCase;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** For each way to lose an order between the outbox and the broker, a test fails. */
@Tag("proof")
@ExtendWith(TestServers.class)
public class RelayMutationsIT {

  private static final String LANE = "io.seckill.relay.lane.RelayLane";
  private static final String LINK = "io.seckill.relay.publish.PublisherChannel";
  private static final String UNCONFIRMED = "io.seckill.relay.lane.UnconfirmedOrdersIT#";
  private static final String FENCED =
      "io.seckill.relay.lane.ScriptsIT#aFencedLeaseClaimsAndSettlesNothing";

  private static final Mutants MUTANTS = new Mutants();

  public static List<MutationCase> mutations() {
    return Mutants.chosen(
        RelayMutations.REMOVED_BEFORE_CONFIRM.caughtBy(
            UNCONFIRMED + "sendsAgainWhatWasNotConfirmedInTime", "unconfirmed, so kept"),
        Mutation.named("the private queue is not drained after an error")
            .calls(
                LANE + "#recover", "io.seckill.relay.lane.PrivateQueue#contents", MutantLane.class)
            .caughtBy(
                "io.seckill.relay.lane.RedisFailureIT#publishesAnOrderWhoseClaimWasNotAnswered",
                "orders delivered"),
        Mutation.named("orders leave the private queue of a gateway's lane before their confirm")
            .calls(
                "io.seckill.relay.lane.DirectLane#takeDelivered",
                "io.seckill.relay.lane.DirectLane#publish",
                MutantLane.class)
            .caughtBy(
                "io.seckill.relay.lane.DirectLaneIT#takesNothingWhileItsWindowIsFullOfUnconfirmedOrders",
                "unconfirmed, so kept"),
        Mutation.named("a gateway's lane keeps its lease after an unknown outcome")
            .calls(
                "io.seckill.relay.lane.DirectLane#recover",
                "io.seckill.relay.lane.LaneConnections#beginNewLease",
                MutantLane.class)
            .caughtBy(
                "io.seckill.relay.lane.DirectLaneIT"
                    + "#readsItsPrivateQueueAndTakesANewLeaseWhenAnOutcomeIsUnknown",
                "ConditionTimeoutException"),
        Mutation.named("the client of RabbitMQ connects again by itself")
            .calls(
                "io.seckill.common.broker.BrokerAddresses#<init>",
                "io.seckill.common.broker.BrokerAddresses#setAutomaticRecoveryEnabled",
                MutantLink.class)
            .caughtBy(
                "io.seckill.relay.publish.PublisherChannelIT#staysBrokenWhenTheBrokerIsThereAgain",
                "connections"),
        RelayMutations.NOT_MANDATORY.caughtBy(
            UNCONFIRMED + "keepsTheOrderWhenTheBrokerAcksAnUnroutableMessage", "orders delivered"),
        Mutation.named("a returned order counts as confirmed")
            .calls(
                LINK + "#listen",
                "io.seckill.relay.publish.UnconfirmedWindow#returned",
                MutantLink.class)
            .caughtBy(
                UNCONFIRMED + "keepsTheOrderWhenTheBrokerAcksAnUnroutableMessage",
                "orders delivered"),
        RelayMutations.FENCED_CLAIMS.caughtBy(FENCED, "Expecting code to raise a throwable"),
        RelayMutations.FENCED_SETTLES.caughtBy(FENCED, "expected: 1L"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("mutations")
  void isCaught(MutationCase mutation) {
    MUTANTS.prove(mutation);
  }

  @AfterAll
  static void report() {
    MUTANTS.report();
  }
}
