package io.seckill.testing.suite;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * Judges the reports of Surefire and Failsafe after a run of {@code scripts/test}, which starts it
 * from this source file; so it uses the JDK alone. A run is red when a test failed, when a class of
 * the tier has no report (its JVM was killed, or its module was not tested), or when a test was
 * skipped that {@code scripts/lib/skips} does not name.
 *
 * <p>Which classes are expected is read from the sources, not from a JVM that ran tests: that JVM
 * may be the one that died.
 */
public final class TestReports {

  private static final int SLOWEST = 20;

  /** Of the message of a failed test, the lines that are printed again at the end. */
  private static final int MESSAGE_LINES = 12;

  private static final Pattern TEST_ANNOTATION =
      Pattern.compile(
          "^\\s*@(?:[\\w.]+\\.)?(Test|ParameterizedTest|RepeatedTest|TestFactory|ArchTest)\\b.*$",
          Pattern.MULTILINE);
  private static final String PROOF_TAG = "@Tag(\"proof\")";

  private final Path root;
  private final FileTime since;
  private final List<String> problems = new ArrayList<>();
  private final List<ClassReport> reports = new ArrayList<>();

  /**
   * @param root the checkout
   * @param since reports written before are of another run
   */
  TestReports(Path root, FileTime since) throws IOException {
    this.root = root;
    this.since = since;
    for (Path report : reportFiles()) {
      reports.add(ClassReport.of(report));
    }
  }

  /** One report: a class in one pass of Maven. */
  private record ClassReport(
      String className, double seconds, int passed, List<String> failures, List<Skip> skips) {

    static ClassReport of(Path file) throws IOException {
      Element suite = parse(file);
      int failed = number(suite, "failures") + number(suite, "errors");
      int skipped = number(suite, "skipped");
      String time = suite.getAttribute("time").replace(",", "");
      return new ClassReport(
          className(file),
          time.isEmpty() ? 0 : Double.parseDouble(time),
          number(suite, "tests") - failed - skipped,
          failures(suite, className(file), failed),
          Skip.in(suite));
    }

    /** A line or more for each failed test; a failure that no test explains counts, too. */
    private static List<String> failures(Element suite, String className, int failed) {
      List<String> failures = new ArrayList<>();
      NodeList cases = suite.getElementsByTagName("testcase");
      for (int i = 0; i < cases.getLength(); i++) {
        Element test = (Element) cases.item(i);
        for (String kind : List.of("failure", "error")) {
          NodeList found = test.getElementsByTagName(kind);
          if (found.getLength() > 0) {
            failures.add(name(test) + "\n" + cause(found.item(0).getTextContent()));
          }
        }
      }
      while (failures.size() < failed) {
        failures.add(className);
      }
      return failures;
    }

    static String name(Element test) {
      return test.getAttribute("classname") + "." + test.getAttribute("name");
    }

    /** The message, and the lines of the project's own code below it. */
    private static String cause(String stackTrace) {
      List<String> lines = stackTrace.lines().filter(line -> !line.isBlank()).toList();
      Predicate<String> isFrame = line -> line.startsWith("\tat ");
      Stream<String> message =
          lines.stream().takeWhile(line -> !isFrame.test(line)).limit(MESSAGE_LINES);
      Stream<String> own =
          lines.stream().filter(isFrame.and(line -> line.contains("io.seckill."))).limit(2);
      return Stream.concat(message, own)
          .map(line -> "    " + line.strip())
          .collect(Collectors.joining("\n"));
    }

    private static String className(Path file) {
      return file.getFileName().toString().replaceAll("^TEST-|\\.xml$", "");
    }

    private static int number(Element suite, String name) {
      String value = suite.getAttribute(name);
      return value.isEmpty() ? 0 : Integer.parseInt(value);
    }

    private static Element parse(Path file) throws IOException {
      try {
        DocumentBuilder builder = DocumentBuilderFactory.newInstance().newDocumentBuilder();
        return builder.parse(file.toFile()).getDocumentElement();
      } catch (ParserConfigurationException | SAXException e) {
        throw new IOException(file + " is no whole report: its JVM may have been killed", e);
      }
    }
  }

  /** A test that was not run, and the reason it gave. */
  private record Skip(String test, String reason) {

    static List<Skip> in(Element suite) {
      List<Skip> skips = new ArrayList<>();
      NodeList cases = suite.getElementsByTagName("testcase");
      for (int i = 0; i < cases.getLength(); i++) {
        Element test = (Element) cases.item(i);
        NodeList skipped = test.getElementsByTagName("skipped");
        if (skipped.getLength() > 0) {
          skips.add(new Skip(ClassReport.name(test), reason((Element) skipped.item(0))));
        }
      }
      return skips;
    }

    /** The condition's message, or the first line of what an assumption has thrown. */
    private static String reason(Element skipped) {
      String message = skipped.getAttribute("message");
      return message.isEmpty() ? skipped.getTextContent().lines().findFirst().orElse("") : message;
    }

    /**
     * @param allowed {@code class-or-class.method: text that the reason contains}, the class
     *     without its package, or {@code *} for any
     */
    boolean isAllowedBy(String allowed) {
      int colon = allowed.indexOf(": ");
      String name = allowed.substring(0, colon);
      String tested = ("." + test + ".").replaceAll("[(\\[{].*", ".");
      return (name.equals("*") || tested.contains("." + name + "."))
          && reason.contains(allowed.substring(colon + 2));
    }
  }

  private List<Path> reportFiles() throws IOException {
    try (Stream<Path> files = Files.walk(root)) {
      return files
          .filter(file -> file.getFileName().toString().matches("TEST-.*\\.xml"))
          .filter(file -> file.getParent().getFileName().toString().endsWith("-reports"))
          .filter(this::isNew)
          .toList();
    }
  }

  private boolean isNew(Path file) {
    try {
      return Files.getLastModifiedTime(file).compareTo(since) >= 0;
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Notes a problem for each class that must have been run and has no report.
   *
   * @param suffix of the names of the pass's reports; empty for the first pass
   */
  void expect(Predicate<String> selected, boolean proof, String suffix) throws IOException {
    Set<String> reported = new TreeSet<>();
    reports.forEach(report -> reported.add(report.className()));
    for (Path source : testSources()) {
      String name = className(source);
      if (selected.test(name)
          && runs(Files.readString(source), proof)
          && !reported.contains(name + suffix)) {
        problems.add(
            name + suffix + " has no report: it was not run, or its JVM ended before its end");
      }
    }
  }

  private List<Path> testSources() throws IOException {
    try (Stream<Path> files = Files.walk(root)) {
      return files
          .filter(file -> file.toString().matches(".*/src/test/java/.*(Test|IT)\\.java"))
          .filter(file -> !root.relativize(file).toString().contains("target/"))
          .sorted()
          .toList();
    }
  }

  private static String className(Path source) {
    String path = source.toString();
    String relative = path.substring(path.indexOf("/src/test/java/") + "/src/test/java/".length());
    return relative.replaceAll("\\.java$", "").replace('/', '.');
  }

  /** Whether a class has a test in the tier; {@code @Tag("proof")} stands before what it is for. */
  static boolean runs(String source, boolean proof) {
    Matcher declaration =
        Pattern.compile("^(public |final |abstract )*class \\w+", Pattern.MULTILINE)
            .matcher(source);
    if (!declaration.find() || declaration.group().contains("abstract ")) {
      return false;
    }
    String head = source.substring(0, declaration.start());
    boolean wholeClassIsProof = head.contains("\n" + PROOF_TAG);
    List<MatchResult> tests = TEST_ANNOTATION.matcher(source).results().toList();
    if (tests.isEmpty() && !source.substring(declaration.start()).matches("(?s)[^{]* extends .*")) {
      return false; // it has only the name of a test
    }
    boolean someAreNot = tests.isEmpty() || tests.stream().anyMatch(test -> !isProof(source, test));
    return proof || (!wholeClassIsProof && someAreNot);
  }

  private static boolean isProof(String source, MatchResult test) {
    return source.substring(0, test.start()).stripTrailing().endsWith(PROOF_TAG);
  }

  /** Notes a problem for each skip that the list does not allow. */
  void allowSkips(List<String> allowed) {
    for (ClassReport report : reports) {
      for (Skip skip : report.skips()) {
        if (allowed.stream().noneMatch(skip::isAllowedBy)) {
          problems.add(skip.test() + " was skipped, which nothing allows: " + skip.reason());
        }
      }
    }
  }

  /** The lines of a list, without comments. */
  static List<String> lines(Path list) throws IOException {
    return Files.readAllLines(list).stream()
        .map(String::strip)
        .filter(line -> !line.isEmpty() && !line.startsWith("#"))
        .toList();
  }

  List<String> problems() {
    return problems;
  }

  int passed() {
    return reports.stream().mapToInt(ClassReport::passed).sum();
  }

  int failed() {
    return reports.stream().mapToInt(report -> report.failures().size()).sum();
  }

  int skipped() {
    return reports.stream().mapToInt(report -> report.skips().size()).sum();
  }

  void print(PrintStream out) {
    out.println("slowest classes");
    reports.stream()
        .sorted(Comparator.comparingDouble(ClassReport::seconds).reversed())
        .limit(SLOWEST)
        .forEach(
            report ->
                out.println(
                    String.format(
                        Locale.ROOT, "%7.1fs  %s", report.seconds(), report.className())));
    for (ClassReport report : reports) {
      report.skips().forEach(skip -> out.println("skipped " + skip.test() + ": " + skip.reason()));
      report.failures().forEach(failure -> out.println("failed " + failure));
    }
    problems.forEach(problem -> out.println("problem: " + problem));
  }

  /**
   * Prints the judgement; the last line is {@code PASSED FAILED SKIPPED}, in which a problem counts
   * as failed.
   *
   * @param arguments checkout; file as old as the run; for each pass {@code default} or {@code
   *     proof}, a pattern of the names of the classes that were selected, and the suffix of its
   *     reports
   */
  public static void main(String[] arguments) throws IOException {
    Path root = Path.of(arguments[0]);
    TestReports reports = new TestReports(root, Files.getLastModifiedTime(Path.of(arguments[1])));
    for (int pass = 2; pass < arguments.length; pass += 3) {
      reports.expect(
          Pattern.compile(arguments[pass + 1]).asMatchPredicate(),
          arguments[pass].equals("proof"),
          arguments[pass + 2]);
    }
    reports.allowSkips(lines(root.resolve("scripts/lib/skips")));
    reports.print(System.out);
    int failed = reports.failed() + reports.problems().size();
    System.out.printf("%d %d %d%n", reports.passed(), failed, reports.skipped());
  }
}
