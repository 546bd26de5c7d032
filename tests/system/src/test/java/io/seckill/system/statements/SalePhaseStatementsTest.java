package io.seckill.system.statements;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.sale.SalePhase;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Every statement that reads who decides a sale, with the phases that each of its conditions is
 * for; "any" where Java gets the phase. A new statement belongs into the list: which phases is it
 * for, and what of the others?
 */
class SalePhaseStatementsTest {

  private static final List<String> READERS =
      """
      ledger.DatabaseBalanceItems: any
      ledger.DatabaseBalanceItems: STRONG ENTERING MYSQL LOADING RETURNING SHARDED
      reconciliation.LostAdmissionsController: REDIS
      reconciliation.Rebuild: REDIS, STRONG ENTERING MYSQL LOADING RETURNING SHARDED, REDIS, REDIS MYSQL LOADING RETURNING
      reconciliation.Schedule: REDIS
      catalogue.ProductReader: any
      catalogue.ProductReader: any
      products.Products: REDIS
      sales.StockChangeTable: STRONG ENTERING MYSQL LOADING RETURNING SHARDED
      sales.StockChangeTable: STRONG ENTERING MYSQL LOADING RETURNING SHARDED
      deadletter.DeadLetterTable: STRONG SHARDED
      fallback.FallbackSales: ENTERING MYSQL, REDIS ENTERING MYSQL LOADING RETURNING
      fallback.FallbackSales: ENTERING MYSQL
      fallback.FallbackSales: MYSQL LOADING RETURNING
      fallback.FallbackSales: LOADING
      fallback.FallbackSales: RETURNING
      fallback.FallbackSales: REDIS
      fallback.FallbackSales: REDIS
      fallback.FallbackSales: any
      fallback.FallbackSales: any
      fallback.SaleReserves: ENTERING
      fallback.SaleReserves: ENTERING
      fallback.SaleReserves: MYSQL
      fallback.SaleReserves: MYSQL
      orders.Orders: REDIS
      orders.Cancellations: any
      payment.PaidResults: any
      storage.ProductTable: REDIS ENTERING MYSQL LOADING RETURNING
      storage.ProductTable: ENTERING MYSQL, ENTERING MYSQL
      shards.ShardTable: SHARDED
      shards.ShardTable: REDIS
      shards.ShardTable: MYSQL LOADING
      storage.StrongSale: any
      ops.SalesTable: any
      verification.StoredSales: REDIS
      """
          .lines()
          .toList();

  private static final Pattern CONDITION =
      Pattern.compile("\\b(?:sale_phase|p[.]phase) (=|<>|IN) ('?\\w+'?|[(][^)]*[)])");

  private static final Pattern PHASE = Pattern.compile("[A-Z]+");

  /** Assigned, or the table of that name. */
  private static final Pattern WRITTEN =
      Pattern.compile("(?:SET|,) (?:p[.])?(?:decides|fallback) = |\\b(?:FROM|UPDATE) fallback\\b");

  /** Not the name of a fallback's runs, which is a text. */
  private static final Pattern FORMER = Pattern.compile("(?<!')\\b(?:decides|fallback)\\b");

  @Test
  void everyReaderIsListedWithItsPhases() throws IOException {
    List<String> readers =
        ListedStatement.all().stream()
            .filter(statement -> statement.text().matches(".*(sale_phase|p[.]phase).*"))
            .map(statement -> owner(statement) + ": " + phases(statement.text()))
            .toList();

    assertThat(readers).containsExactlyInAnyOrderElementsOf(READERS);
  }

  private static String owner(ListedStatement statement) {
    return statement.owner().replaceFirst("io[.]seckill[.](consumer|gateway)[.]", "");
  }

  private static String phases(String sql) {
    String conditions =
        CONDITION.matcher(sql).results().map(SalePhaseStatementsTest::of).collect(joining(", "));
    return conditions.isEmpty() ? "any" : conditions;
  }

  private static String of(MatchResult condition) {
    List<String> named =
        PHASE.matcher(condition.group(2)).results().map(MatchResult::group).toList();
    boolean others = condition.group(1).equals("<>");
    return Arrays.stream(SalePhase.values())
        .map(SalePhase::name)
        .filter(phase -> named.contains(phase) != others)
        .collect(joining(" "));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "SELECT sale_phase FROM products                         | any",
        "SELECT 1 FROM products p WHERE p.sale_phase = 'REDIS'   | REDIS",
        "SELECT 1 FROM products WHERE sale_phase <> 'STRONG'     | REDIS ENTERING MYSQL LOADING RETURNING SHARDED",
        "SELECT 1 FROM products WHERE sale_phase IN ('MYSQL', 'RETURNING') | MYSQL RETURNING",
        "select 1 from Product p where p.phase = REDIS and p.closesAt > NOW() | REDIS",
        "UPDATE products SET epoch = IF(sale_phase = 'REDIS', 1, 2) WHERE sale_phase <> 'REDIS'"
            + " | 'REDIS, STRONG ENTERING MYSQL LOADING RETURNING SHARDED'",
      })
  void phasesAreThoseOfEachCondition(String sql, String phases) {
    assertThat(phases(sql)).isEqualTo(phases);
  }

  /** They are two halves of the phase; FallbackSales finds sales in a fallback by their index. */
  @Test
  void nobodyElseReadsTheColumnsOfWhichThePhaseIsMade() throws IOException {
    assertThat(ListedStatement.all())
        .filteredOn(statement -> !statement.owner().endsWith(".FallbackSales"))
        .noneMatch(
            statement -> FORMER.matcher(WRITTEN.matcher(statement.text()).replaceAll("")).find());
  }
}
