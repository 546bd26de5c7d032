package io.seckill.consumer;

import io.seckill.consumer.intake.WrongIntake;
import io.seckill.consumer.lifecycle.MutantPayments;
import io.seckill.consumer.store.MutantStore;
import io.seckill.consumer.store.WrongStore;
import io.seckill.testing.mutation.Mutation;

/**
 * Changes to order-consumer that tests of the whole pipeline must notice, some of ours besides.
 * Where several guards stand behind each other, all of them go.
 */
public final class ConsumerMutations {

  private static final String INTAKE = "io.seckill.consumer.intake.";
  private static final String STORE = "io.seckill.consumer.store.";
  private static final String PAYMENTS = "io.seckill.consumer.lifecycle.Payments";
  private static final String START_CHECK = STORE + "LedgerStartCheck";
  private static final String LIMIT = STORE + "Terms#limit";
  private static final String QUANTITY = "io.seckill.common.order.OrderMessage#quantity";
  private static final String TABLES = "db/migration/V1__ledger_of_record.sql";
  private static final String GIVE_BACK = "io/seckill/consumer/giveback/give_back.lua";

  public static final Mutation AFFECTED_ROWS_OFF =
      Mutation.named("useAffectedRows is off")
          .setting(
              "spring.datasource.hikari.jdbc-url", "${spring.datasource.url}&useAffectedRows=false")
          .calls(
              START_CHECK + "#afterPropertiesSet",
              START_CHECK + "#checkAffectedRows",
              WrongStore.class);

  public static final Mutation ACKED_BEFORE_COMMIT =
      Mutation.named("orders are acked before the COMMIT")
          .calls(INTAKE + "QueueIntake#consume", INTAKE + "IntakeSession#inbox", WrongIntake.class)
          .calls(INTAKE + "QueueIntake#consume", INTAKE + "Inbox#take", WrongIntake.class)
          .calls(INTAKE + "Settler#finish", INTAKE + "IntakeSession#ack", WrongIntake.class);

  public static final Mutation STOCK_NOT_GUARDED =
      Mutation.named("MySQL's stock is taken without stock >= n")
          .constant(STORE + "ProductTable", " AND stock >= ?", " AND (stock >= ? OR TRUE)")
          .text(TABLES, "CHECK (stock >= 0)", "CHECK (stock > -1000)");

  public static final Mutation KNOWS_NO_LIMIT =
      Mutation.named("MySQL knows no limit")
          .calls(STORE + "StraightBatch#raises", LIMIT, WrongStore.class)
          .calls(STORE + "OddOrders#place", LIMIT, WrongStore.class)
          .calls(STORE + "OddOrders#raise", LIMIT, WrongStore.class);

  public static final Mutation GIVEN_BACK_AGAIN =
      Mutation.named("units of an order are given back again")
          .text(
              GIVE_BACK,
              "if redis.call('HEXISTS', givenKey, id) == 1 then",
              "if redis.call('HEXISTS', givenKey, id) == 2 then");

  public static final Mutation GIVE_BACK_NOT_NOTED =
      Mutation.named("Redis does not note what it was given back")
          .text(GIVE_BACK, "redis.call('HSET', givenKey, id, ARGV[6] .. ':' .. ARGV[7])", "");

  public static final Mutation REJECTS_ONE_IN_20 =
      Mutation.named("every twentieth order is rejected for no reason")
          .calls(STORE + "StraightBatch#raises", QUANTITY, MutantStore.class)
          .calls(STORE + "OddOrders#place", QUANTITY, MutantStore.class);

  public static final Mutation CHARGES_TWICE_THE_PRICE =
      Mutation.named("a payment charges twice the price")
          .calls(
              PAYMENTS + "#ask",
              "io.seckill.consumer.lifecycle.OrderRow#amountCents",
              MutantPayments.class);

  public static final Mutation LEDGER_WITH_A_UNIT_TOO_MANY =
      Mutation.named("the ledger shows a unit more than is on sale")
          .text(
              "io/seckill/consumer/ledger/ledger_terms.lua",
              "redis.call('GET', prefix .. 'stock:' .. sku) or ''",
              "string.format('%.0f', redis.call('GET', prefix .. 'stock:' .. sku) + 1)");

  private ConsumerMutations() {}
}
