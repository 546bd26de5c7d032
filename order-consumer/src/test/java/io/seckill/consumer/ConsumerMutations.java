package io.seckill.consumer;

import io.seckill.consumer.intake.MutantIntake;
import io.seckill.consumer.loading.MutantLoading;
import io.seckill.consumer.payment.MutantPayments;
import io.seckill.consumer.storage.MutantStore;
import io.seckill.testing.mutation.Mutation;

/**
 * Mutations of order-consumer that tests of the whole pipeline must detect; some of this module's
 * tests detect them too. Where several guards enforce one rule, the mutation removes all of them.
 */
public final class ConsumerMutations {

  private static final String INTAKE = "io.seckill.consumer.intake.";
  private static final String STORE_BATCHES = INTAKE + "IntakeSession#storeBatches";
  private static final String STORE = "io.seckill.consumer.storage.";
  private static final String PAYMENTS = "io.seckill.consumer.payment.Payments";
  private static final String START_CHECK = STORE + "AffectedRowsCheck";
  private static final String LIMIT = STORE + "SaleRules#limit";
  private static final String QUANTITY = "io.seckill.common.order.OrderMessage#quantity";
  private static final String TABLES = "db/migration/V1__ledger_of_record.sql";
  private static final String COMPENSATION = "io/seckill/consumer/orders/compensate.lua";

  public static final Mutation AFFECTED_ROWS_OFF =
      Mutation.named("useAffectedRows is off")
          .setting(
              "spring.datasource.hikari.jdbc-url", "${spring.datasource.url}&useAffectedRows=false")
          .calls(
              START_CHECK + "#afterPropertiesSet",
              START_CHECK + "#checkAffectedRows",
              MutantStore.class);

  public static final Mutation ACKED_BEFORE_COMMIT =
      Mutation.named("orders are acked before the COMMIT")
          .calls(STORE_BATCHES, INTAKE + "IntakeSession#isOpen", MutantIntake.class)
          .calls(STORE_BATCHES, INTAKE + "Inbox#take", MutantIntake.class)
          .calls(INTAKE + "Settler#finish", INTAKE + "IntakeSession#ack", MutantIntake.class);

  public static final Mutation STOCK_NOT_GUARDED =
      Mutation.named("MySQL's stock is taken without stock >= n")
          .constant(STORE + "ProductTable", " AND stock >= ?", " AND (stock >= ? OR TRUE)")
          .text(TABLES, "CHECK (stock >= 0)", "CHECK (stock > -1000)");

  public static final Mutation KNOWS_NO_LIMIT =
      Mutation.named("MySQL knows no limit")
          .calls(STORE + "QuotaTable#raises", LIMIT, MutantStore.class)
          .calls(STORE + "PerOrderPath#place", LIMIT, MutantStore.class)
          .calls(STORE + "PerOrderPath#raise", LIMIT, MutantStore.class);

  public static final Mutation COMPENSATED_AGAIN =
      Mutation.named("an order is compensated twice")
          .text(
              COMPENSATION,
              "if redis.call('HEXISTS', bucketKey, compensated) == 1 then",
              "if redis.call('HEXISTS', bucketKey, compensated) == 2 then");

  public static final Mutation COMPENSATION_NOT_NOTED =
      Mutation.named("Redis does not note a compensation")
          .text(
              COMPENSATION,
              "redis.call('HSET', bucketKey, compensated, ARGV[6] .. ':' .. ARGV[7])",
              "");

  public static final Mutation REJECTS_ONE_IN_20 =
      Mutation.named("every twentieth order is rejected for no reason")
          .calls(STORE + "QuotaTable#raises", QUANTITY, MutantStore.class)
          .calls(STORE + "PerOrderPath#place", QUANTITY, MutantStore.class);

  public static final Mutation CHARGES_TWICE_THE_PRICE =
      Mutation.named("a payment charges twice the price")
          .calls(
              PAYMENTS + "#ask",
              "io.seckill.support.contract.OrderRow#amountCents",
              MutantPayments.class);

  public static final Mutation LEDGER_WITH_A_UNIT_TOO_MANY =
      Mutation.named("the ledger shows a unit more than is on sale")
          .text(
              "io/seckill/consumer/ledger/balance_items.lua",
              "and stock or ''",
              "and string.format('%.0f', stock + 1) or ''");

  public static final Mutation FALLBACK_SELLS_THE_RESERVE =
      Mutation.named("a fallback sells the reserve")
          .constant(STORE + "StrongSale", " stock, reserved_units,", " stock, 0,")
          .constant(STORE + "ProductTable", "stock - reserved_units >= ?", "stock >= ?");

  public static final Mutation FALLBACK_KEEPS_THE_EPOCH =
      Mutation.named("a fallback does not raise the epoch")
          .constant(
              "io.seckill.consumer.fallback.FallbackSales",
              "fallback = 'ENTERING', epoch = epoch + 1,",
              "fallback = 'ENTERING',");

  public static final Mutation FALLBACK_LOOKS_FOR_ITS_OWN_EPOCH =
      Mutation.named("while MySQL decides, a look at Redis expects the epoch of MySQL")
          .constant(
              "io.seckill.consumer.fallback.FallbackSales",
              "sale_phase IN ('ENTERING', 'MYSQL')) AS epoch",
              "sale_phase = 'ENTERING') AS epoch");

  public static final Mutation FALLBACK_BEGINS_WITH_EACH_TERM =
      Mutation.named("a fallback that begins again forgets when it began")
          .constant(
              "io.seckill.consumer.fallback.FallbackTable",
              "IF(state = 'REDIS', FROM_UNIXTIME(LEAST(",
              "IF(TRUE, FROM_UNIXTIME(LEAST(");

  public static final Mutation FALLBACK_RETURNS_ALL_UNITS =
      Mutation.named("a sale returns from a fallback with all units that it began with")
          .calls(
              "io.seckill.consumer.loading.SaleLoader#load",
              "io.seckill.consumer.products.ProductSnapshot#stock",
              MutantLoading.class);

  public static final Mutation REFUSES_WHAT_IT_STORED =
      Mutation.named("every twentieth order of a strong sale is stored and answered with a refusal")
          .calls(
              STORE + "StrongPurchaseController#decide",
              STORE + "StrongSales#decide",
              MutantStore.class);

  public static final Mutation COMPENSATES_STRONG_SALES =
      Mutation.named("Redis is to get back units of a strong sale")
          .constant(
              "io.seckill.consumer.orders.Cancellations",
              "SELECT epoch, sale_phase",
              "SELECT epoch, 'REDIS'");

  private ConsumerMutations() {}
}
