package io.seckill.testing.suite;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TestReportsTest {

  private static final FileTime LONG_AGO = FileTime.fromMillis(0);

  @TempDir private Path root;

  private void report(String name, String content) throws IOException {
    Path folder = Files.createDirectories(root.resolve("module/target/failsafe-reports"));
    Files.writeString(folder.resolve("TEST-" + name + ".xml"), content);
  }

  private void source(String name, String content) throws IOException {
    Path folder = Files.createDirectories(root.resolve("module/src/test/java/io"));
    Files.writeString(folder.resolve(name + ".java"), content);
  }

  private static String test(String annotations) {
    return "package io;\n\nclass SomeIT {\n\n" + annotations + "  void runs() {}\n}\n";
  }

  @Test
  void addsReportsUp() throws IOException {
    report(
        "io.AIT",
        "<testsuite name='a' time='1,001.5' tests='7' errors='1' skipped='0' failures='1'/>");
    report(
        "io.BTest", "<testsuite name='b' time='1' tests='3' errors='0' skipped='0' failures='0'/>");

    TestReports reports = new TestReports(root, LONG_AGO);

    assertThat(List.of(reports.passed(), reports.failed(), reports.skipped()))
        .containsExactly(8, 2, 0);
  }

  /** The log of a run in CI may be cut to its last lines. */
  @Test
  void namesEachFailedTestAndItsCause() throws IOException {
    report(
        "io.AIT",
        "<testsuite tests='3' errors='1' skipped='0' failures='1'>"
            + "<testcase classname='io.AIT' name='sells'><failure message='m'>java.lang.AssertionError:"
            + " [units]\n\nexpected: 1\n\tat org.Assert.that(Assert.java:1)\n"
            + "\tat io.seckill.AIT.sells(AIT.java:7)\n</failure></testcase>"
            + "<testcase classname='io.AIT' name='stays'/>"
            + "<testcase classname='io.AIT' name='ends'><error>java.io.EOFException</error></testcase>"
            + "</testsuite>");
    report("io.BIT", "<testsuite tests='1' errors='1' skipped='0' failures='0'/>");
    ByteArrayOutputStream printed = new ByteArrayOutputStream();

    TestReports reports = new TestReports(root, LONG_AGO);
    reports.print(new PrintStream(printed, true, UTF_8));

    assertThat(reports.failed()).isEqualTo(3);
    assertThat(printed.toString(UTF_8).lines().filter(line -> !line.matches(".*\\ds  io\\..*")))
        .containsExactlyInAnyOrder(
            "slowest classes",
            "failed io.AIT.sells",
            "    java.lang.AssertionError: [units]",
            "    expected: 1",
            "    at io.seckill.AIT.sells(AIT.java:7)",
            "failed io.AIT.ends",
            "    java.io.EOFException",
            "failed io.BIT");
  }

  @Test
  void leavesReportsOfOtherRunsOut() throws IOException {
    report("io.AIT", "<testsuite tests='7' errors='1' skipped='0' failures='1'/>");

    TestReports reports = new TestReports(root, FileTime.fromMillis(Long.MAX_VALUE));

    assertThat(reports.passed()).isZero();
  }

  @Test
  void missesTheReportOfAClass() throws IOException {
    source("SomeIT", test("  @Test\n"));
    TestReports reports = new TestReports(root, LONG_AGO);

    reports.expect(name -> true, false, "");

    assertThat(reports.problems()).singleElement().asString().contains("io.SomeIT has no report");
  }

  /** The first pass has the reports of all classes, too. */
  @Test
  void missesTheReportOfAClassInALaterPass() throws IOException {
    source("SomeIT", test("  @Test\n"));
    source("OtherIT", test("  @Test\n"));
    report("io.SomeIT", "<testsuite tests='1'/>");
    report("io.OtherIT", "<testsuite tests='1'/>");
    report("io.OtherIT-jdk25", "<testsuite tests='1'/>");
    TestReports reports = new TestReports(root, LONG_AGO);

    reports.expect(name -> true, false, "");
    reports.expect(name -> true, false, "-jdk25");

    assertThat(reports.problems())
        .singleElement()
        .asString()
        .contains("io.SomeIT-jdk25 has no report");
  }

  @Test
  void missesNoReportOfClassesThatWereNotSelected() throws IOException {
    source("SomeIT", test("  @Test\n"));
    TestReports reports = new TestReports(root, LONG_AGO);

    reports.expect(name -> !name.equals("io.SomeIT"), false, "");

    assertThat(reports.problems()).isEmpty();
  }

  @Test
  void knowsWhichClassesTheTiersHave() {
    String proof = "  @Tag(\"proof\")\n";
    assertRuns(test("  @Test\n"), true, true);
    assertRuns(test(proof + "  @Test\n"), false, true);
    assertRuns(test(proof + "  @Test\n  void a() {}\n\n  @Test\n"), true, true);
    assertRuns(test("  @ParameterizedTest(name = \"{0}\")\n"), true, true);
    assertRuns("@Tag(\"area\")\n@Tag(\"proof\")\n" + test("  @Test\n"), false, true);
    assertRuns("package io;\n\nclass LoadTest {\n  int load;\n}\n", false, false);
    assertRuns("package io;\n\nclass SomeIT extends OtherIT {}\n", true, true);
    assertRuns("package io;\n\n/** A class of.\n */\nabstract class SomeIT {}\n", false, false);
  }

  private static void assertRuns(String source, boolean byDefault, boolean inProof) {
    assertThat(TestReports.runs("\n" + source, false)).as(source).isEqualTo(byDefault);
    assertThat(TestReports.runs("\n" + source, true)).as(source).isEqualTo(inProof);
  }

  @ParameterizedTest
  @CsvSource({
    "'SomeIT: no disk', 0",
    "'SomeIT.runs: no disk', 0",
    "'*: no disk', 0",
    "'SomeIT.other: no disk', 1",
    "'OmeIT: no disk', 1",
    "'SomeIT: no money', 1",
  })
  void allowsOnlySkipsThatTheListNames(String allowed, int problems) throws IOException {
    report(
        "io.SomeIT",
        "<testsuite tests='1' skipped='1'><testcase classname='io.SomeIT' name='runs{int}[1]'>"
            + "<skipped message='no disk here'/></testcase></testsuite>");
    TestReports reports = new TestReports(root, LONG_AGO);

    reports.allowSkips(List.of(allowed));

    assertThat(reports.problems()).hasSize(problems);
    assertThat(reports.skipped()).isEqualTo(1);
  }
}
