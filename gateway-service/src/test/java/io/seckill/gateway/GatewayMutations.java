package io.seckill.gateway;

import io.seckill.gateway.admission.MutantAdmissions;
import io.seckill.testing.mutation.Mutation;

/**
 * Defects put into the gateway: the tests of the whole pipeline must detect each of them, and this
 * module's tests detect some.
 */
public final class GatewayMutations {

  private static final String ADMISSIONS = "io.seckill.gateway.admission.Admissions";
  private static final String ANSWERS = "io.seckill.gateway.admission.AdmitAnswers";
  private static final String ADMIT = "io/seckill/gateway/admission/admit.lua";

  /** A message that is pushed again ends otherwise. */
  private static final String END_OF_A_NEW_MESSAGE =
      "\n    .. ',\"requestId\":\"' .. key .. s.messageSale .. seq .. s.messageEnd";

  public static final Mutation KEY_NOT_LOOKED_UP =
      Mutation.named("admission does not look the idempotency key up")
          .text(ADMIT, "elseif seen then", "elseif false then");

  public static final Mutation SELLS_WHAT_IS_SOLD_OUT =
      Mutation.named("admission sells what is sold out")
          .text(ADMIT, "if s.stock < n then", "if false then");

  public static final Mutation CHECKS_NO_QUOTA =
      Mutation.named("admission checks no quota")
          .text(ADMIT, "if used + n > s.quota then", "if false then");

  public static final Mutation MESSAGE_OF_ONE_UNIT =
      Mutation.named("the message asks for one unit, whatever was admitted")
          .text(
              ADMIT,
              "s.messageSku .. quantity" + END_OF_A_NEW_MESSAGE,
              "s.messageSku .. 1" + END_OF_A_NEW_MESSAGE);

  public static final Mutation REFUSES_ONE_IN_25 =
      Mutation.named("every twenty-fifth shopper is told SOLD_OUT")
          .calls(
              ADMISSIONS + "#submit",
              "io.seckill.gateway.batching.RequestBatcher#submit",
              MutantAdmissions.class);

  public static final Mutation PROMISED_BEFORE_CONFIRM =
      Mutation.named("an order is promised before the broker's confirm")
          .calls(
              ANSWERS + "#promise",
              "io.seckill.gateway.admission.BrokerConfirms#answerConfirmed",
              MutantAdmissions.class);

  public static final Mutation REPEAT_WITHOUT_CONFIRM =
      Mutation.named("a repeat is promised without a new confirm")
          .calls(
              ANSWERS + "#promise",
              "io.seckill.gateway.admission.Admission$Queued#status",
              MutantAdmissions.class);

  public static final Mutation PROMISES_BESIDE_MYSQL =
      Mutation.named("a gateway promises what Redis admits although MySQL decides")
          .calls(
              ANSWERS + "#promise",
              "io.seckill.gateway.fallback.Promises#mayConfirm",
              MutantAdmissions.class);

  public static final Mutation SOLD_OUT_FROM_ONE_SHARD =
      Mutation.named("an empty shard refuses although other shards have units")
          .text(
              "io/seckill/gateway/shards/ask.lua",
              "and tonumber(units) or -1 }",
              "and tonumber(units) or 0 }");

  private GatewayMutations() {}
}
