package io.seckill.consumer;

import io.seckill.consumer.intake.MutantIntake;
import io.seckill.consumer.payment.MutantPayments;
import io.seckill.consumer.sales.MutantStock;
import io.seckill.consumer.shards.MutantShards;
import io.seckill.consumer.storage.MutantStore;
import io.seckill.consumer.wallet.MutantWallets;
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

/**
 * Every mutation that loses, oversells or repeats an order between the broker and MySQL, or lets
 * Redis and MySQL both sell a strong sale, fails a test.
 */
@Tag("proof")
@ExtendWith(TestServers.class)
public class ConsumerMutationsIT {

  private static final String INTAKE = "io.seckill.consumer.intake.";
  private static final String STORE = "io.seckill.consumer.storage.";
  private static final String SALES = "io.seckill.consumer.sales.";
  private static final String ORDERS = "io.seckill.consumer.orders.";
  private static final String LIFECYCLE = "io.seckill.consumer.payment.";
  private static final String WALLET = "io.seckill.consumer.wallet.";
  private static final String START_CHECK = STORE + "AffectedRowsCheck";
  private static final String TABLES = "db/migration/V1__ledger_of_record.sql";
  private static final String WALLETS = "db/migration/V28__wallets.sql";
  private static final String QUOTA_CHECK = "CHECK (owned_count <= limit_units)";
  private static final String FIRST_PURCHASE =
      INTAKE + "GuardsIT#refusesAFirstPurchaseAboveTheLimit";
  private static final String COMPENSATION = "io/seckill/consumer/orders/compensate.lua";
  private static final String COMPENSATION_IT = ORDERS + "CompensationScriptIT#";

  private static final String SHARDS = "io.seckill.consumer.shards.";
  private static final String MOVE =
      SALES + "StockChangeIT#aHalfOfAMoveThatStopsAnywhereIsFinishedBySweeps";

  private static final String LACKING =
      SALES + "StockChangeIT#aServerThatLacksAChangeIsBehindAndNothingIsTakenFromIt";

  private static final String STOCK_CHANGE = "io/seckill/consumer/sales/stock_change.lua";

  private static final String FALLBACK = "io.seckill.consumer.fallback.";

  private static final Mutants MUTANTS = new Mutants();

  public static List<MutationCase> mutations() {
    return Mutants.chosen(
        ConsumerMutations.AFFECTED_ROWS_OFF.caughtBy(
            STORE + "OrderStoreIT#addsUpOrdersOfOneUserInABatch", "but was: 5"),
        Mutation.named("the service starts without useAffectedRows")
            .calls(
                START_CHECK + "#afterPropertiesSet",
                START_CHECK + "#checkAffectedRows",
                MutantStore.class)
            .caughtBy(
                STORE + "AffectedRowsCheckIT#refusesToStartWithoutUseAffectedRows",
                "Expecting code to raise a throwable"),
        ConsumerMutations.ACKED_BEFORE_COMMIT.caughtBy(
            INTAKE + "IntakeFaultsIT#pausesWhileMySqlIsAwayAndResumes",
            "orders back at the broker"),
        Mutation.named("an ack settles all deliveries before it")
            .calls(
                INTAKE + "IntakeSession#ack",
                "com.rabbitmq.client.Channel#basicAck",
                MutantIntake.class)
            .caughtBy(
                INTAKE + "IntakeFaultsIT#keepsAFailedOrderAtTheBrokerWhileThoseBehindItAreAcked",
                "orders still at the broker"),
        Mutation.named("the first purchase is not held to the limit, in a batch")
            .firstCall(STORE + "QuotaTable#raises", STORE + "SaleRules#limit", MutantStore.class)
            .text(TABLES, QUOTA_CHECK, "CHECK (owned_count > 0)")
            .caughtBy(FIRST_PURCHASE, "REJECTED QUOTA_EXCEEDED"),
        Mutation.named("the first purchase is not held to the limit, one by one")
            .calls(STORE + "PerOrderPath#place", STORE + "SaleRules#limit", MutantStore.class)
            .text(TABLES, QUOTA_CHECK, "CHECK (owned_count > 0)")
            .caughtBy(FIRST_PURCHASE, "REJECTED QUOTA_EXCEEDED"),
        ConsumerMutations.STOCK_NOT_GUARDED.caughtBy(
            STORE + "OrderStoreIT#keepsNoQuotaOfUnlimitedSkus", "SOLD_OUT"),
        Mutation.named("a strong sale takes stock that is gone")
            .constant(
                STORE + "ProductTable",
                " AND stock - reserved_units >= ? AND state_version = ?",
                " AND (stock - reserved_units >= ? OR TRUE) AND state_version = ?")
            .text(TABLES, "CHECK (stock >= 0)", "CHECK (stock > -1000)")
            .caughtBy(STORE + "StrongSalesIT#decidesAgainWhenTheStockThatItReadIsGone", "SOLD_OUT"),
        Mutation.named("a strong sale confirms purchases after a pause")
            .constant(
                STORE + "ProductTable",
                " AND state_version = ?",
                " AND (state_version = ? OR TRUE)")
            .caughtBy(STORE + "StrongSalesIT#confirmsNothingAfterAPauseWasCommitted", "PAUSED"),
        Mutation.named("a failed batch is committed as far as it came")
            .calls(
                STORE + "StorageTransactions#doRollback",
                "java.sql.Connection#rollback",
                MutantStore.class)
            .caughtBy(STORE + "OrderStoreIT#waitsOutALockWithoutKeepingHalfABatch", "half a batch"),
        ConsumerMutations.COMPENSATED_AGAIN.caughtBy(
            COMPENSATION_IT + "givesStockAndQuotaOncePerOrder", "expected: 2L"),
        Mutation.named("an older epoch is compensated")
            .text(COMPENSATION, "if current > epoch then", "if false then")
            .caughtBy(COMPENSATION_IT + "changesNothingForAnOlderEpoch", "expected: 3L"),
        Mutation.named("Redis forgets an order that ended within the hour")
            .text(COMPENSATION, "now - endedAt < KEPT", "now - endedAt < 0")
            .caughtBy(
                COMPENSATION_IT + "forgetsOrdersThatEndedAnHourAgoAFewAtATime", "to contain keys"),
        Mutation.named("Redis keeps a dozen ended orders of a bucket")
            .text(COMPENSATION, "3600000, 128, 4", "3600000, 12, 4")
            .caughtBy(
                COMPENSATION_IT + "keepsABucketSmallHoweverOftenItsUserBuysAndCancels",
                "four of each that has ended"),
        Mutation.named("a payment pays for an order that has ended")
            .calls(
                LIFECYCLE + "ChargeJudge#judge",
                "io.seckill.support.contract.OrderRow#status",
                MutantPayments.class)
            .constant(ORDERS + "Orders", " AND status = 'CONFIRMED'", "")
            .caughtBy(
                LIFECYCLE
                    + "LifecyclePaymentIT#aCrashAfterTheChargeEndsAsARefundWhenTheOrderHasExpired",
                "EXPIRED"),
        Mutation.named("a second charge of an order is forgotten")
            .calls(
                LIFECYCLE + "ChargeOutcomes#change",
                LIFECYCLE + "ChargeJudge$Verdict#reason",
                MutantPayments.class)
            .caughtBy(
                LIFECYCLE + "ChargeReportsIT#ofTwoChargesAtOnceOnePaysAndTheOtherIsSeen",
                "SECOND_CHARGE"),
        Mutation.named("a charge pays for two orders")
            .constant(
                LIFECYCLE + "ChargeTable",
                " WHERE charge_id IN (:charges)",
                " WHERE FALSE AND charge_id IN (:charges)")
            .caughtBy(
                LIFECYCLE + "ChargeReportsIT#aChargePaysForOneOrderOnly", "CHARGE_OF_OTHER_ORDER"),
        Mutation.named("a wallet pays more than it has")
            .calls(
                WALLET + "WalletBatch#refusal",
                WALLET + "WalletBatch$WalletRow#balanceCents",
                MutantWallets.class)
            .caughtBy(
                WALLET + "WalletBatchTest#laterOperationsSeeWhatEarlierOnesDo", "INSUFFICIENT"),
        Mutation.named("a charge of a wallet is refunded twice")
            .calls(
                WALLET + "WalletBatch#refusalOfRefund",
                WALLET + "WalletBatch$ChargeRow#leftCents",
                MutantWallets.class)
            .caughtBy(WALLET + "WalletBatchTest#laterOperationsSeeWhatEarlierOnesDo", "EXCEEDS"),
        Mutation.named("a wallet forgets the keys of its operations")
            .calls(WALLET + "WalletBatch#decide", "java.util.Map#get", MutantWallets.class)
            .caughtBy(WALLET + "WalletBatchTest#aKeyIsDoneOnceInABatchAndByUser", "REPEATED"),
        Mutation.named("an entry of a wallet is not the opposite of its house account's")
            .calls(
                WALLET + "WalletTable#values",
                WALLET + "WalletBatch$Booked#signedCents",
                MutantWallets.class)
            .caughtBy(WALLET + "WalletInvariantsIT#isKept", "user 3900002: entry 2, CHARGE of 60"),
        Mutation.named("MySQL accepts a wallet's balance below 0")
            .text(WALLETS, "CHECK (balance_cents BETWEEN 0", "CHECK (balance_cents BETWEEN -1")
            .caughtBy(WALLET + "WalletInvariantsIT#isKept", "ck_wallet_balance"),
        Mutation.named("MySQL accepts refunds above their charge")
            .text(WALLETS, "0 AND amount_cents)", "0 AND amount_cents + 1)")
            .caughtBy(WALLET + "WalletInvariantsIT#isKept", "ck_wallet_refunded"),
        Mutation.named("a wallet's balance is read before its lock")
            .calls(
                WALLET + "WalletTransactions#decide",
                WALLET + "WalletTable#lock",
                MutantWallets.class)
            .caughtBy(
                WALLET + "WalletLocksIT#twoProcessesReadABalanceUnderItsLock",
                "balances that changed after they were read"),
        Mutation.named("the row count of a wallet's update is not looked at")
            .calls(
                WALLET + "WalletTable#write",
                WALLET + "WalletTable#checkCount",
                MutantWallets.class)
            .caughtBy(
                WALLET + "WalletsIT#theUpdateOfAWalletWhoseRowIsGoneIsUndone",
                "Expecting code to raise a throwable"),
        Mutation.named("an order is charged to a wallet and stays unpaid")
            .calls(
                LIFECYCLE + "ChargeOutcomes#change",
                ORDERS + "Orders#markPaid",
                MutantWallets.class)
            .caughtBy(
                WALLET + "WalletPaidOrdersIT#aChargeAndItsOrderAreOneTransaction",
                "PAYMENT_DECLINED"),
        Mutation.named("a cancel returns units of an order that is paid")
            .constant(ORDERS + "Cancellations", " AND status = 'CONFIRMED'", "")
            .caughtBy(LIFECYCLE + "LifecycleUnitsIT#aPaidOrderIsNotCancellable", "409"),
        ConsumerMutations.COMPENSATES_STRONG_SALES.caughtBy(
            LIFECYCLE + "LifecycleUnitsIT#onlyOrdersThatRedisKnowsAreCompensatedThere",
            "expected: 0L"),
        Mutation.named("purchases of a strong sale do not notice a change of its stock")
            .constant(
                SALES + "StockChangeTable",
                ", state_version = state_version + (sale_phase <> 'REDIS')",
                "")
            .caughtBy(
                SALES + "StrongSaleControlIT#aChangeOfStockIsNoticedByPurchases",
                "purchases that were decided before are decided again"),
        Mutation.named("a strong sale is missed in Redis")
            .constant(
                "io.seckill.consumer.reconciliation.Schedule", " AND p.sale_phase = 'REDIS'", "")
            .caughtBy(
                "io.seckill.consumer.reconciliation.ScheduleIT#missesNoStrongSaleInRedis",
                "sales that wait for a rebuild"),
        Mutation.named("a replayed dead letter that is lost is never missed")
            .constant(
                "io.seckill.consumer.reconciliation.KnownOrders", " AND state <> 'REPLAYED'", "")
            .caughtBy(
                "io.seckill.consumer.reconciliation.ReconciliationIT"
                    + "#leavesADeadLetterToTheOperator",
                "a replay that the broker has lost"),
        Mutation.named("two processes take the same block of order ids")
            .constant(
                STORE + "StrongOrderIds",
                "GREATEST(next_ms, LEAST(",
                "GREATEST(next_ms * 0, LEAST(")
            .caughtBy(
                STORE + "StrongSalesIT#twoProcessesTakeTwoBlocksOfIds",
                "the first id of another block"),
        Mutation.named("a shard gets units that no other loses")
            .constant(
                SALES + "StockChangeTable",
                "SET stock = stock + :delta, state_version",
                "SET stock = stock + 0 * :delta, state_version")
            .caughtBy(MOVE, "but was: 50L"),
        Mutation.named("a half of a move that is repeated is made again in Redis")
            .text(STOCK_CHANGE, "if outcome and not undo then\n  return", "if false then\n  return")
            .caughtBy(MOVE, "but was: 40L"),
        Mutation.named("the units of a half of a move do not reach the pool")
            .calls(
                SALES + "DatabaseStock#withdraw",
                SALES + "DatabaseStock#isPooled",
                MutantStock.class)
            .caughtBy(MOVE, "but was: 50L"),
        Mutation.named("a half of a move is not finished while the sale is paused")
            .constant(
                SALES + "StockChangeTable",
                " AND stock >= -:delta",
                " AND stock >= -:delta AND state = 'OPEN'")
            .caughtBy(MOVE, "but was: 100L"),
        Mutation.named("a half of a move is made in a shard that was rebuilt since")
            .calls(
                SALES + "DatabaseStock#withdraw",
                "io.seckill.consumer.products.ProductSnapshot#epoch",
                MutantStock.class)
            .caughtBy(
                SALES + "StockChangeIT#aPreheatBetweenTheHalvesOfAWithdrawalIsNotUndoneByIt",
                "but was: 100L"),
        Mutation.named("units move to no shard that asks for them while there is plenty")
            .calls(SHARDS + "MovePlan#isShort", SHARDS + "ShardState#asked", MutantShards.class)
            .caughtBy(SHARDS + "MovePlanTest#moves", "one is dry and asked"),
        Mutation.named("a Redis server that lacks a stock change looks whole")
            .text(STOCK_CHANGE, "last = last + 1", "last = last + 0")
            .caughtBy(LACKING, "by the server that lacks it"),
        Mutation.named("units are withdrawn from data that lack a stock change")
            .text(STOCK_CHANGE, " or last < tonumber(ARGV[6])", "")
            .caughtBy(LACKING, "expected: \"UNAVAILABLE\""),
        Mutation.named("the second half of a move is dropped")
            .constant(
                SALES + "StockChangeTable",
                " state IN ('PENDING', 'MYSQL_DONE', 'UNDOING')",
                " state IN ('PENDING', 'UNDOING')")
            .caughtBy(MOVE, "but was: 100L"),
        Mutation.named("one pass over the shards proves that no unit is left")
            .calls(SHARDS + "Elsewhere#proven", SHARDS + "ShardState#supply", MutantShards.class)
            .caughtBy(
                SHARDS + "ElsewhereTest#aUnitThatComesBehindTheReaderProvesNothing",
                "Expecting an empty OptionalLong"),
        Mutation.named("a returned unit goes to no shard")
            .constant(
                ORDERS + "Cancellations",
                "stock = stock + ? WHERE sku_id = ?",
                "stock = stock + ? WHERE sku_id < 4503599627370496 AND sku_id = ?")
            .caughtBy(
                SHARDS + "ShardMovesIT#unitsGatherWhereTheyAreAskedForUntilNoneIsLeftAnywhere",
                "the returned unit"),
        ConsumerMutations.FALLBACK_SELLS_THE_RESERVE.caughtBy(
            FALLBACK + "FallbackReservesIT#unitsThatRedisHasAdmittedAreKeptForTheirOrders",
            "only the reserve could serve it"),
        ConsumerMutations.FALLBACK_KEEPS_THE_EPOCH.caughtBy(
            FALLBACK + "FallbackEntryIT#nobodyDecidesUntilThePromisesOfGatewaysAreKnown",
            "MYSQL ENTERING 2"),
        ConsumerMutations.FALLBACK_LOOKS_FOR_ITS_OWN_EPOCH.caughtBy(
            FALLBACK
                + "SilentGatewayIT#aGatewayThatFallsSilentWhileMySqlDecidesLeavesWhatRedisHasPromised",
            "promised units"),
        ConsumerMutations.FALLBACK_BEGINS_WITH_EACH_TERM.caughtBy(
            FALLBACK
                + "FallbackReservesIT#aLateTransferInTheNextFallbackCountsWhatMySqlSoldInTheOneBefore",
            "promised units"),
        ConsumerMutations.FALLBACK_RETURNS_ALL_UNITS.caughtBy(
            "io.seckill.consumer.fallback.FallbackReturnIT#redisGetsEverythingBack",
            "expected: 16"));
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
