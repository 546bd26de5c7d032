package io.seckill.system.statements;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.system.statements.StatementTexts.Text;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every statement of the services is in {@code statements.txt}, for which {@link StatementPlansIT}
 * asserts how much it reads. A new statement belongs there, with values that select much.
 */
class StatementListTest {

  private static final String CLASS = "io.seckill.Table";

  private static List<Text> code;
  private static List<ListedStatement> listed;

  @BeforeAll
  static void read() throws IOException {
    code = StatementTexts.under(Path.of(System.getProperty("seckill.root")));
    listed = ListedStatement.all();
  }

  @Test
  void everyStatementOfTheCodeIsListed() {
    assertThat(code).hasSizeGreaterThan(180);
    assertThat(code).as("add them to statements.txt").filteredOn(isMissingIn(listed)).isEmpty();
  }

  private static Predicate<Text> isMissingIn(List<ListedStatement> list) {
    return text ->
        list.stream()
            .noneMatch(entry -> (text.whole() && entry.isOf(text)) || entry.contains(text));
  }

  @Test
  void everyListedStatementIsInTheCode() {
    assertThat(listed)
        .filteredOn(entry -> code.stream().noneMatch(text -> text.whole() && entry.isOf(text)))
        .as("remove them from statements.txt")
        .isEmpty();
  }

  /** The entries of wallets are books: a correction is another entry. */
  @Test
  void noStatementChangesOrDeletesAnEntryOfAWallet() {
    assertThat(listed)
        .filteredOn(entry -> entry.sql().contains("wallet_entry"))
        .isNotEmpty()
        .allMatch(entry -> entry.sql().matches("(?s)SELECT .*|INSERT INTO wallet\\w* .*"));
  }

  @Test
  void noStatementIsListedTwice() {
    Set<String> different =
        listed.stream().map(entry -> entry.owner() + " " + entry.text()).collect(toSet());
    assertThat(different).hasSameSizeAs(listed);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "SELECT a FROM orders WHERE b = ?         | SELECT a FROM orders WHERE b = 7",
        "SELECT a FROM orders WHERE b IN (:ids)   | SELECT a FROM orders WHERE b IN ({orders})",
        "SELECT a FROM orders WHERE b IN (#)      | SELECT a FROM orders WHERE b IN (1, 2)",
        "INSERT INTO orders (a) VALUES #          | INSERT INTO orders (a) VALUES (1), (2)",
        "SELECT a FROM orders WHERE b = ?#        | SELECT a FROM orders WHERE b = 'x' FOR UPDATE",
      })
  void aStatementIsListedWithValues(String inCode, String inList) {
    assertThat(isMissing(inCode, inList)).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // another condition, order or limit
        "SELECT a FROM orders                     | SELECT a FROM orders WHERE b = 7",
        "SELECT a FROM orders WHERE b = ?         | SELECT a FROM orders",
        "SELECT a FROM orders WHERE b = ? LIMIT ? | SELECT a FROM orders WHERE b = 7",
        "SELECT a FROM orders WHERE b = ?         | SELECT a FROM orders WHERE b = 7 OR c = 8",
        "SELECT a FROM orders WHERE b = ? ORDER BY c | SELECT a FROM orders WHERE b = 7 ORDER BY d",
        // the same words in another class, or as a part of another statement
        "SELECT a FROM orders                     | SELECT a FROM orders ORDER BY a",
        // a number in the digits of the locale
        "SELECT a FROM orders WHERE b = %d        | SELECT a FROM orders WHERE b = 7",
        // put together from parts
        "SELECT                                   | SELECT a FROM orders WHERE b = 7",
      })
  void anotherStatementIsNotListed(String inCode, String inList) {
    assertThat(isMissing(inCode, inList)).isTrue();
  }

  private static boolean isMissing(String inCode, String inList) {
    Text text = new Text(CLASS, inCode.replace("#", StatementTexts.HOLE), true);
    return isMissingIn(ListedStatement.parse(CLASS + ":\n" + inList)).test(text);
  }

  @Test
  void aPartOfAStatementIsListedWithTheStatement() {
    List<ListedStatement> list =
        ListedStatement.parse(CLASS + ":\nSELECT a FROM orders WHERE b = 7 FOR UPDATE");

    assertThat(new Text(CLASS, "FOR UPDATE", false)).matches(isMissingIn(list).negate());
    assertThat(new Text(CLASS, "ORDER BY c", false)).matches(isMissingIn(list));
    assertThat(new Text("io.seckill.Other", "FOR UPDATE", false)).matches(isMissingIn(list));
  }

  @ParameterizedTest
  @ValueSource(strings = {"orders whole", "12001 reads", "12001 sorts", "orders PRIMARY, a"})
  void aPlanWithoutABoundIsRefused(String plan) {
    assertThatThrownBy(() -> ListedStatement.parse("a.B:\nSELECT a FROM orders\n> " + plan))
        .isInstanceOf(IllegalArgumentException.class);
  }

  /** As a developer may write one. */
  @SuppressWarnings("unused")
  private static final class Statements {

    private static final String TABLE = "orders";

    static String constant() {
      return "SELECT a FROM " + TABLE + " WHERE b = ?";
    }

    static String block() {
      return """
          SELECT a
          FROM orders
          """;
    }

    static String lowerCase() {
      return "select a from orders";
    }

    static String concatenated(int marks) {
      return "DELETE FROM orders WHERE b IN (" + marks + ")";
    }

    static String built(@Nullable String state) {
      StringBuilder sql = new StringBuilder("SELECT a FROM orders WHERE b = 1");
      return sql.append(state == null ? "" : " AND state = 'OPEN'")
          .append(" ORDER BY a")
          .toString();
    }

    static String aliased() {
      return "o.order_id";
    }

    static String message() {
      return "The order is updated from the list, and not found in it.";
    }
  }

  @Test
  void findsStatementsHoweverTheyAreWritten() throws IOException {
    String file = Statements.class.getName().replaceFirst(".*[.]", "") + ".class";
    byte[] classFile;
    try (var content = Statements.class.getResourceAsStream(file)) {
      classFile = content.readAllBytes();
    }

    assertThat(StatementTexts.of(classFile))
        .extracting(Text::value)
        .containsExactlyInAnyOrder(
            "SELECT a FROM orders WHERE b = ?",
            "SELECT a FROM orders",
            "select a from orders",
            "DELETE FROM orders WHERE b IN (" + StatementTexts.HOLE + ")",
            "SELECT a FROM orders WHERE b = 1",
            "AND state = 'OPEN'",
            "ORDER BY a",
            "o.order_id");
  }
}
