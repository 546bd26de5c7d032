package io.seckill.relay;

import io.seckill.relay.lane.MutantLane;
import io.seckill.relay.publish.MutantLink;
import io.seckill.relay.publish.MutantPublisher;
import io.seckill.testing.mutation.Mutation;

/** Changes to the relay that pipeline tests must detect; relay tests must detect some too. */
public final class RelayMutations {

  private static final String LANE = "io.seckill.relay.lane.RelayLane";
  private static final String PUBLISH = "io.seckill.relay.publish.PublisherChannel#publish";
  private static final String BASIC_PUBLISH = "com.rabbitmq.client.Channel#basicPublish";
  private static final String SCRIPTS = "io/seckill/relay/lane/";

  public static final Mutation REMOVED_BEFORE_CONFIRM =
      Mutation.named("orders leave the private queue before their confirm")
          .calls(
              LANE + "#settleAndClaim",
              "io.seckill.relay.lane.PrivateQueue#settleAndClaim",
              MutantLane.class);

  public static final Mutation NOT_MANDATORY =
      Mutation.named("orders are published without mandatory")
          .calls(PUBLISH, BASIC_PUBLISH, MutantLink.class);

  public static final Mutation FENCED_CLAIMS =
      Mutation.named("a fenced lease takes orders")
          .text(SCRIPTS + "claim.lua", "tonumber(score) <= 0", "false");

  public static final Mutation FENCED_SETTLES =
      Mutation.named("a fenced lease removes orders")
          .text(SCRIPTS + "settle.lua", "tonumber(score) <= 0", "false");

  public static final Mutation SENT_NOWHERE =
      Mutation.named("one message in 50 goes nowhere and counts as confirmed")
          .calls(PUBLISH, BASIC_PUBLISH, MutantPublisher.class);

  public static final Mutation COUNTED_TWICE =
      Mutation.named("published orders are counted twice")
          .text(SCRIPTS + "settle.lua", "(orders[key] or 0) + 1", "(orders[key] or 0) + 2");

  private RelayMutations() {}
}
