package io.seckill.system.statements;

import static java.util.stream.Collectors.joining;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A statement of {@code statements.txt}, as it runs with sample values.
 *
 * @param owner name of the class that has it
 * @param text as in the code, with values in place of parameters
 * @param sql what MySQL gets; differs from the text only if Hibernate makes it
 * @param plan by which key MariaDB reads each table, {@code alias key}, or {@code alias whole}
 * @param reads most rows and index entries that one execution reads
 * @param sorts most rows that it sorts
 */
record ListedStatement(
    String owner, String text, String sql, Set<String> plan, long reads, long sorts) {

  /** Also the two pages of a join. */
  static final long MOST_READS = 12_000;

  private static final String LIST = "statements.txt";

  /** A plan that is the same in an empty database and in a full one. */
  private static final long FEW_READS = 20;

  private static final Pattern COUNT = Pattern.compile("(\\d+) (reads|sorts)");
  private static final Pattern TABLE = Pattern.compile("(\\w+ [\\w,]+)(?: \\((.+)\\))?");

  /** Not {@code %d}: in some locales it writes digits that MySQL does not read. */
  private static final Pattern UNKNOWN = Pattern.compile("\u0001|%s|[?]|:[a-z][A-Za-z]*");

  private static final String VALUE =
      "(?:\\{\\w+\\}|'[^']*'|NULL|-?\\d+|[A-Z]+\\([^()]*\\)|\\w+(?:, \\w+)*)";

  static List<ListedStatement> all() throws IOException {
    try (InputStream list =
        Objects.requireNonNull(ListedStatement.class.getResourceAsStream(LIST))) {
      return parse(new String(list.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  static List<ListedStatement> parse(String list) {
    List<ListedStatement> statements = new ArrayList<>();
    String owner = "";
    for (String block : list.split("\n\\s*\n", -1)) {
      List<String> lines = block.lines().filter(line -> !line.startsWith("#")).toList();
      if (lines.isEmpty()) {
        continue;
      }
      if (lines.get(0).matches("[\\w.]+:")) {
        owner = lines.get(0).replace(":", "");
        lines = lines.subList(1, lines.size());
      }
      if (!lines.isEmpty()) {
        statements.add(entry(owner, lines));
      }
    }
    return statements;
  }

  private static ListedStatement entry(String owner, List<String> lines) {
    String text = joined(lines.stream().filter(line -> !line.matches("[>=].*")));
    String generated = joined(lines.stream().filter(line -> line.startsWith("=")));
    Set<String> plan = new TreeSet<>();
    long reads = FEW_READS;
    long sorts = 0;
    for (String item : joined(lines.stream().filter(line -> line.startsWith(">"))).split(";", -1)) {
      Matcher count = COUNT.matcher(item.strip());
      Matcher table = TABLE.matcher(item.strip());
      if (count.matches() && count.group(2).equals("reads")) {
        reads = Long.parseLong(count.group(1));
      } else if (count.matches()) {
        sorts = Long.parseLong(count.group(1));
      } else if (table.matches()) {
        plan.add(table.group(1));
        if (table.group(1).endsWith(" whole") && table.group(2) == null) {
          throw new IllegalArgumentException("why may it read the whole table? " + text);
        }
      } else if (!item.isBlank()) {
        throw new IllegalArgumentException("not a plan: " + item + " of " + text);
      }
    }
    if (reads > MOST_READS || sorts > MOST_READS) {
      throw new IllegalArgumentException("reads or sorts too much: " + text);
    }
    String sql = generated.isEmpty() ? text : generated;
    return new ListedStatement(owner, text, sql, plan, reads, sorts);
  }

  private static String joined(Stream<String> lines) {
    return StatementTexts.plain(
        lines.map(line -> line.replaceFirst("^[>=]", "")).collect(joining(" ")));
  }

  /** Whether the code has exactly this statement, but for values. */
  boolean isOf(StatementTexts.Text code) {
    return owner.equals(code.owner()) && Pattern.matches(pattern(code.value()), text);
  }

  /** Whether this is part of the statement; a statement is part of another in brackets only. */
  boolean contains(StatementTexts.Text code) {
    String part = pattern(code.value());
    String inside = code.whole() ? "[(]\\s*" + part + "\\s*(?:[)]|UNION ALL)" : part;
    return owner.equals(code.owner()) && Pattern.compile(inside).matcher(text).find();
  }

  private static String pattern(String code) {
    StringBuilder pattern = new StringBuilder();
    Matcher unknown = UNKNOWN.matcher(code);
    int from = 0;
    while (unknown.find()) {
      pattern.append(Pattern.quote(code.substring(from, unknown.start())));
      pattern.append(isText(unknown.group()) ? ".*?" : VALUE);
      from = unknown.end();
    }
    return pattern.append(Pattern.quote(code.substring(from))).toString();
  }

  private static boolean isText(String unknown) {
    return unknown.equals(StatementTexts.HOLE) || unknown.equals("%s");
  }

  /** Whether MySQL has a plan for it: it reads or changes a table. */
  boolean hasPlan() {
    return Pattern.compile("\\b(FROM|INTO|UPDATE)\\b").matcher(sql).find();
  }
}
