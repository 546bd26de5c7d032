package io.seckill.gateway;

import io.seckill.gateway.admission.MutantAdmissions;
import io.seckill.gateway.orders.MutantPaymentResults;
import io.seckill.gateway.security.MutantIdentities;
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

/** When admission omits one of its checks, a test fails. */
@Tag("proof")
@ExtendWith(TestServers.class)
public class GatewayMutationsIT {

  private static final String ADMIT = "io/seckill/gateway/admission/admit.lua";
  private static final String DIRECT_IT = "io.seckill.gateway.admission.DirectChannelIT#";
  private static final String ADMISSION = "io.seckill.gateway.admission.";

  private static final String FALLBACK_IT = "io.seckill.gateway.admission.FallbackAdmissionIT#";

  private static final String OPEN_API_IT = "io.seckill.gateway.web.OpenApiIT#";
  private static final String PAYMENTS = "io.seckill.gateway.orders.PaymentQueue";
  private static final String IDENTITY = "io.seckill.gateway.security.Identity";

  private static final Mutants MUTANTS = new Mutants();

  public static List<MutationCase> mutations() {
    return Mutants.chosen(
        Mutation.named("admission checks no quota at the first purchase")
            .text(ADMIT, "if used + n > s.quota then", "if used > 0 and used + n > s.quota then")
            .caughtBy(
                ADMISSION + "AdmitRulesIT#countsUnitsOverSeveralOrdersWhereALimitIsTheRule",
                "QUOTA_EXCEEDED"),
        GatewayMutations.SELLS_WHAT_IS_SOLD_OUT.caughtBy(
            ADMISSION + "AdmitRulesIT#sellsTheLastUnitAndThenNone", "TOO_FEW_LEFT"),
        GatewayMutations.KEY_NOT_LOOKED_UP.caughtBy(
            ADMISSION + "AdmitRulesIT#answersARepeatWithTheFirstOrderAndItsStatusOfNow",
            "Repeated"),
        Mutation.named("admission forgets the keys of the same call")
            .text(ADMIT, "if first then", "if false then")
            .caughtBy(
                ADMISSION + "AdmitCallIT#decidesLaterPurchasesOfACallOnWhatEarlierOnesTook",
                "Repeated"),
        Mutation.named("admission decides on the data of a server that is not verified")
            .text(
                ADMIT,
                "if match(call('INFO', 'replication'), 'master_replid:(%x+)') ~= expected then",
                "if not match(call('INFO', 'replication'), 'master_replid:(%x+)') then")
            .caughtBy(
                ADMISSION + "AdmitBrokenDataIT#decidesNothingOnTheDataOfAServerThatIsNotVerified",
                "UNVERIFIED"),
        Mutation.named("admission sells from data of an older epoch")
            .text(
                ADMIT, "elseif tonumber(s.epoch) < tonumber(ARGV[i + 7]) then", "elseif false then")
            .caughtBy(FALLBACK_IT + "refusesDataOfAnOlderEpochThanMySqls", "OLD_EPOCH"),
        GatewayMutations.PROMISES_BESIDE_MYSQL.caughtBy(
            FALLBACK_IT + "promisesNothingThatWasAdmittedBeforeTheSwitchAndIsAnsweredAfterIt",
            "FALLBACK"),
        GatewayMutations.SOLD_OUT_FROM_ONE_SHARD.caughtBy(
            "io.seckill.gateway.admission.PurchaseIT#"
                + "theShardOfAShopperDecidesAndRefusesNothingThatIsLeftElsewhere",
            "SOLD_OUT"),
        Mutation.named("a shopper reads another one's wallet")
            .calls(
                "io.seckill.gateway.wallet.ShopperWalletController#balance",
                IDENTITY + "#userId",
                MutantIdentities.class)
            .caughtBy(OPEN_API_IT + "describesWallets", "own balance"),
        Mutation.named("a shopper may recharge a wallet")
            .calls(
                "io.seckill.gateway.web.AuthenticationFilter#refusal",
                IDENTITY + "#isOperator",
                MutantIdentities.class)
            .caughtBy(OPEN_API_IT + "describesWallets", "403"),
        Mutation.named("the quota of a user is counted in another user's shard")
            .calls(
                "io.seckill.gateway.admission.ShardedPurchases#inShard",
                "io.seckill.common.sale.Shards#purchased",
                MutantAdmissions.class)
            .caughtBy(
                "io.seckill.gateway.admission.PurchaseIT#"
                    + "theShardOfAShopperDecidesAndRefusesNothingThatIsLeftElsewhere",
                "not to be null"),
        Mutation.named("an empty shard answers before the quota")
            .text(ADMIT, "s.stock ~= 0 or s.isShard", "s.stock ~= 0")
            .caughtBy(
                "io.seckill.gateway.admission.PurchaseIT#aShardRefusesAsOneSaleOfAllUnits",
                "QUOTA_EXCEEDED"),
        Mutation.named("a payment gets the result of another one")
            .calls(
                PAYMENTS + "$Payment#isOf",
                "io.seckill.common.order.OrderId#equals",
                MutantPaymentResults.class)
            .caughtBy(PAYMENTS + "Test#anOutcomeOfAnotherPaymentIsNobodys", "NOT_PAYABLE"),
        Mutation.named("the result of a payment is dropped")
            .calls(
                "io.seckill.gateway.batching.BatchCall#execute",
                "java.util.function.BiConsumer#accept",
                MutantPaymentResults.class)
            .caughtBy(PAYMENTS + "Test#eachPaymentOfAListHasItsOwnResult", "DATABASE_UNAVAILABLE"),
        GatewayMutations.PROMISED_BEFORE_CONFIRM.caughtBy(
            DIRECT_IT + "promisesOnlyWhatTheBrokerHasConfirmed", "BROKER"),
        GatewayMutations.REPEAT_WITHOUT_CONFIRM.caughtBy(
            DIRECT_IT + "promisesOnlyWhatTheBrokerHasConfirmed",
            "the broker still has no order of this key"));
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
