package io.seckill.system.statements;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.sale.Shards;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.Rows;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongFunction;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Executes every statement of the services in a database with many orders and long history, and
 * counts what it reads and sorts: it must cost by what it is asked for, never by what a sale has
 * sold or the shop has kept. A plan alone would not show it, because it does not count a LIMIT.
 */
@ExtendWith(TestServers.class)
class StatementPlansIT {

  private static final Path ROOT = Path.of(System.getProperty("seckill.root"));
  private static final Path MIGRATIONS =
      ROOT.resolve("order-consumer/src/main/resources/db/migration");

  /** Values in one statement: see the constants CHUNK of those who read by ids. */
  private static final int IDS = 1_000;

  /** Most orders in one batch of the store. */
  private static final int BATCH = 500;

  /** One of them is a shard, whose units have moved often. */
  private static final int SKUS = 100;

  private static final long FIRST_ORDER = 1_000_001;
  private static final long FIRST_USER = 100_001;

  /** Of every two orders at this distance both are of SKU 1. */
  private static final int STEP = 70;

  private static final String COUNTERS =
      "SHOW SESSION STATUS WHERE Variable_name LIKE 'Handler\\_read\\_%'"
          + " OR Variable_name = 'Sort_rows'";

  private static final String WHOLE = " whole";

  private static Map<String, String> samples;
  private static Connection connection;
  private static boolean isMariaDb;

  private static String values(int count, LongFunction<String> value) {
    return LongStream.range(0, count).mapToObj(value).collect(joining(", "));
  }

  /** What the names in braces stand for. */
  private static Map<String, String> samples() {
    LocalDateTime now = LocalDateTime.now(ZoneOffset.UTC);
    return Map.of(
        "{orders}", values(IDS, i -> "" + (FIRST_ORDER + STEP * i)),
        "{users}", values(IDS, i -> "" + (FIRST_USER + STEP * i)),
        "{buyers}", values(BATCH, i -> "(1, " + (FIRST_USER + STEP * i) + ")"),
        "{requests}",
            values(BATCH, i -> "(%d, 1, 'k%d')".formatted(FIRST_USER + STEP * i, 1 + STEP * i)),
        "{charges}", values(BATCH, i -> "'sim-" + (FIRST_ORDER + STEP * i) + "'"),
        "{skus}", values(SKUS, i -> "" + (i == 99 ? Shards.id(1, 0) : 1 + i)),
        "{today}", text(now.toLocalDate().atStartOfDay()),
        "{day}", now.toLocalDate().toString(),
        "{hour ago}", text(now.minusHours(1)),
        "{hash}", "x");
  }

  /** As MySQL writes a time. */
  private static String text(LocalDateTime time) {
    return DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSSSSS", Locale.ROOT).format(time);
  }

  @BeforeAll
  static void seed() throws IOException, SQLException {
    MySqlDatabase database = TestServers.mysql().newDatabase();
    samples = samples();
    connection = database.connect();
    isMariaDb = connection.getMetaData().getDatabaseProductVersion().contains("MariaDB");
    for (Path migration : migrations()) {
      executeAll(Files.readString(migration));
    }
    for (String table : tables()) { // no other statistics than those that are read below
      executeAll("ALTER TABLE " + table + " STATS_AUTO_RECALC = 0");
    }
    try (InputStream seed = StatementPlansIT.class.getResourceAsStream("seed.sql")) {
      executeAll(new String(seed.readAllBytes(), StandardCharsets.UTF_8));
    }
    for (String table : tables()) {
      Rows.of(connection, "ANALYZE TABLE " + table, row -> row.getString(4));
    }
    // Each index entry that is read is to be counted, also if a condition on the index refuses it.
    executeAll("SET SESSION optimizer_switch = 'index_condition_pushdown=off'");
    connection.setAutoCommit(false);
  }

  @AfterAll
  static void close() throws SQLException {
    if (connection != null) {
      connection.close();
    }
  }

  private static List<Path> migrations() throws IOException {
    try (Stream<Path> files = Files.list(MIGRATIONS)) {
      return files
          .sorted(
              Comparator.comparingInt(
                  file ->
                      Integer.parseInt(file.getFileName().toString().replaceAll("^V|__.*", ""))))
          .toList();
    }
  }

  /** Statements end with a semicolon at the end of a line. */
  private static void executeAll(String script) throws SQLException {
    for (String sql : script.replaceAll("--[^\n]*", "").split("(?m);\\s*$", -1)) {
      if (!sql.isBlank()) {
        try (Statement statement = connection.createStatement()) {
          statement.execute(sql);
        } catch (SQLException e) {
          throw new SQLException(sql, e);
        }
      }
    }
  }

  private static Set<String> tables() throws SQLException {
    return new TreeSet<>(
        Rows.of(
            connection,
            "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()",
            row -> row.getString(1)));
  }

  @Test
  void noStatementReadsOrSortsMoreThanItIsAskedFor() throws IOException, SQLException {
    List<String> findings = new ArrayList<>();
    for (ListedStatement statement : ListedStatement.all()) {
      findings.addAll(findings(statement));
    }

    assertThat(findings).isEmpty();
  }

  /** What the check is worth: it refuses statements that cost what was ever sold. */
  @Test
  void aStatementThatReadsOrSortsASaleIsFound() throws SQLException {
    List<ListedStatement> costly =
        ListedStatement.parse(
            """
            io.seckill.Table:
            SELECT COUNT(*) FROM orders WHERE quantity = 2
            > orders PRIMARY

            SELECT order_id FROM orders WHERE sku_id = 1 ORDER BY seq LIMIT 10
            > orders ix_orders_sku

            SELECT order_id FROM orders WHERE user_id = 7 AND quantity = 9 LIMIT 10
            > orders uk_user_request

            UPDATE orders SET quantity = 3 WHERE quantity = 2
            > orders PRIMARY
            """);
    for (ListedStatement statement : costly) {
      assertThat(findings(statement)).as(statement.sql()).isNotEmpty();
    }
  }

  private static List<String> findings(ListedStatement statement) throws SQLException {
    if (!statement.hasPlan()) {
      return List.of();
    }
    String sql = statement.sql();
    for (Map.Entry<String, String> value : samples.entrySet()) {
      sql = sql.replace(value.getKey(), value.getValue());
    }
    Set<String> plan;
    Cost cost;
    try {
      plan = plan(sql);
      cost = cost(sql);
    } catch (SQLException e) {
      return List.of(statement.owner() + ": " + statement.sql() + ": " + e.getMessage());
    }
    if (isAsListed(plan, statement.plan())
        && cost.reads() <= mostReads(statement)
        && cost.sorts() <= statement.sorts()) {
      return List.of();
    }
    return List.of(
        "%s: %s%n> %d reads; %d sorts; %s%n"
            .formatted(
                statement.owner(),
                statement.text(),
                cost.reads(),
                cost.sorts(),
                String.join("; ", plan)));
  }

  /** MySQL counts a row of a join again when it deletes it, and may read a short range whole. */
  private static long mostReads(ListedStatement statement) {
    return isMariaDb ? statement.reads() : statement.reads() + statement.reads() / 4 + 500;
  }

  /** MySQL may take another key than MariaDB, for which they are listed, but not go without. */
  private static boolean isAsListed(Set<String> plan, Set<String> listed) {
    return isMariaDb
        ? plan.equals(listed)
        : plan.stream().filter(table -> table.endsWith(WHOLE)).allMatch(listed::contains);
  }

  /** How each table is read, {@code alias key}; what is derived from others is left out. */
  private static Set<String> plan(String sql) throws SQLException {
    Set<String> plan = new TreeSet<>();
    Rows.of(
        connection,
        "EXPLAIN FORMAT = TRADITIONAL " + sql,
        row -> {
          @Nullable String table = row.getString("table");
          boolean isTarget = Set.of("INSERT", "REPLACE").contains(row.getString("select_type"));
          if (table != null && !table.startsWith("<") && !isTarget) {
            plan.add(table + key(row));
          }
          return table;
        });
    return plan;
  }

  private static String key(ResultSet row) throws SQLException {
    return row.getString("key") == null || "ALL".equals(row.getString("type"))
        ? WHOLE
        : " " + row.getString("key");
  }

  /**
   * What one execution costs.
   *
   * @param reads rows and index entries, also those of temporary tables
   */
  private record Cost(long reads, long sorts) {

    Cost minus(Cost other) {
      return new Cost(Math.max(0, reads - other.reads), Math.max(0, sorts - other.sorts));
    }
  }

  private static Cost cost(String sql) throws SQLException {
    Cost first = counters();
    Cost before = counters();
    try (Statement statement = connection.createStatement()) {
      boolean hasRows = statement.execute(sql);
      if (hasRows) {
        ResultSet rows = Objects.requireNonNull(statement.getResultSet());
        while (rows.next()) {
          rows.getRow();
        }
      }
    }
    Cost after = counters();
    connection.rollback();
    // Reading the counters is counted, too.
    return after.minus(before).minus(before.minus(first));
  }

  private static Cost counters() throws SQLException {
    long reads = 0;
    long sorts = 0;
    for (Map.Entry<String, Long> counter :
        Rows.of(connection, COUNTERS, row -> Map.entry(row.getString(1), row.getLong(2)))) {
      if (counter.getKey().equals("Sort_rows")) {
        sorts += counter.getValue();
      } else {
        reads += counter.getValue();
      }
    }
    return new Cost(reads, sorts);
  }
}
