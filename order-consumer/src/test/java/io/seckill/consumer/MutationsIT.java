package io.seckill.consumer;

import io.seckill.consumer.intake.WrongIntake;
import io.seckill.consumer.store.WrongStore;
import io.seckill.testing.TestServers;
import io.seckill.testing.mutation.Mutants;
import io.seckill.testing.mutation.Mutation;
import io.seckill.testing.mutation.MutationCase;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each way to lose, oversell or repeat an order between the broker and MySQL turns a test red. */
@ExtendWith(TestServers.class)
class MutationsIT {

  private static final String INTAKE = "io.seckill.consumer.intake.";
  private static final String STORE = "io.seckill.consumer.store.";
  private static final String LIFECYCLE = "io.seckill.consumer.lifecycle.";
  private static final String START_CHECK = STORE + "LedgerStartCheck";
  private static final String TABLES = "db/migration/V1__ledger_of_record.sql";
  private static final String QUOTA_CHECK = "CHECK (owned_count <= limit_units)";
  private static final String FIRST_PURCHASE =
      INTAKE + "GuardsIT#refusesAFirstPurchaseAboveTheLimit";
  private static final String GIVE_BACK = "io/seckill/consumer/giveback/give_back.lua";
  private static final String GIVE_BACK_IT = "io.seckill.consumer.giveback.GiveBackScriptIT#";

  private static final Mutants MUTANTS = new Mutants();

  static List<MutationCase> mutations() {
    return Mutants.chosen(
        ConsumerMutations.AFFECTED_ROWS_OFF.caughtBy(
            STORE + "OrderStoreIT#addsUpOrdersOfOneUserInABatch", "but was: 5"),
        Mutation.named("the service starts without useAffectedRows")
            .calls(
                START_CHECK + "#afterPropertiesSet",
                START_CHECK + "#checkAffectedRows",
                WrongStore.class)
            .caughtBy(
                STORE + "LedgerStartCheckIT#refusesToStartWithoutUseAffectedRows",
                "Expecting code to raise a throwable"),
        ConsumerMutations.ACKED_BEFORE_COMMIT.caughtBy(
            INTAKE + "IntakeFaultsIT#pausesWhileMySqlIsAwayAndResumes",
            "orders back at the broker"),
        Mutation.named("an ack settles all deliveries before it")
            .calls(
                INTAKE + "IntakeSession#ack",
                "com.rabbitmq.client.Channel#basicAck",
                WrongIntake.class)
            .caughtBy(
                INTAKE + "IntakeFaultsIT#keepsAFailedOrderAtTheBrokerWhileThoseBehindItAreAcked",
                "orders still at the broker"),
        Mutation.named("the first purchase is not held to the limit, in a batch")
            .firstCall(STORE + "StraightBatch#raises", STORE + "Terms#limit", WrongStore.class)
            .text(TABLES, QUOTA_CHECK, "CHECK (owned_count > 0)")
            .caughtBy(FIRST_PURCHASE, "REJECTED QUOTA_EXCEEDED"),
        Mutation.named("the first purchase is not held to the limit, one by one")
            .calls(STORE + "OddOrders#place", STORE + "Terms#limit", WrongStore.class)
            .text(TABLES, QUOTA_CHECK, "CHECK (owned_count > 0)")
            .caughtBy(FIRST_PURCHASE, "REJECTED QUOTA_EXCEEDED"),
        ConsumerMutations.STOCK_NOT_GUARDED.caughtBy(
            STORE + "OrderStoreIT#keepsNoQuotaOfUnlimitedSkus", "SOLD_OUT"),
        Mutation.named("a failed batch is committed as far as it came")
            .calls(STORE + "Transactions#run", STORE + "Transactions#rollBack", WrongStore.class)
            .caughtBy(STORE + "OrderStoreIT#waitsOutALockWithoutKeepingHalfABatch", "half a batch"),
        ConsumerMutations.GIVEN_BACK_AGAIN.caughtBy(
            GIVE_BACK_IT + "givesStockAndQuotaOncePerOrder", "expected: 2L"),
        Mutation.named("units of an older epoch are given back")
            .text(GIVE_BACK, "elseif current > epoch then", "elseif false then")
            .caughtBy(GIVE_BACK_IT + "changesNothingForAnOlderEpoch", "expected: 3L"),
        Mutation.named("a payment pays for an order that has ended")
            .constant(LIFECYCLE + "Orders", " AND status = 'CONFIRMED'", "")
            .caughtBy(
                LIFECYCLE + "LifecycleIT#aCrashAfterTheChargeEndsAsARefundWhenTheOrderHasExpired",
                "EXPIRED"),
        Mutation.named("a cancel returns units of an order that is paid")
            .constant(LIFECYCLE + "Releases", " AND status = 'CONFIRMED'", "")
            .caughtBy(LIFECYCLE + "LifecycleIT#aPaidOrderIsNotCancellable", "409"));
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
