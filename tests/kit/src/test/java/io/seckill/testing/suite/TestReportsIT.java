package io.seckill.testing.suite;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A module with the settings of this build, whose tests hang, kill their JVM and are skipped: Maven
 * runs it as {@code scripts/test} does, which ignores failures, and the judgement over its reports
 * is red for each of them.
 */
@Tag("proof")
class TestReportsIT {

  private static final Path ROOT = Path.of(System.getProperty("seckill.root"));
  private static final Path MODULE = ROOT.resolve("tests/kit/target/red-module");
  private static final Path TESTS = MODULE.resolve("src/test/java/red");

  /** With mvn or, where there is none, mvnw. */
  private static final String MAVEN =
      ". scripts/lib/common.sh && . scripts/lib/java.sh && cd \"$0\" && maven \"$@\"";

  private static TestReports reports;

  @BeforeAll
  static void runMaven() throws Exception {
    deleteModule();
    Files.createDirectories(TESTS);
    Files.writeString(
        MODULE.resolve("pom.xml"),
        """
        <project xmlns="http://maven.apache.org/POM/4.0.0">
          <modelVersion>4.0.0</modelVersion>
          <parent>
            <groupId>io.seckill</groupId>
            <artifactId>seckill</artifactId>
            <version>0.1.0-SNAPSHOT</version>
            <relativePath>../../../../pom.xml</relativePath>
          </parent>
          <artifactId>red-module</artifactId>
        </project>
        """);
    writeTest("FineTest", "Thread.onSpinWait();");
    writeTest("SkippedTest", "org.junit.jupiter.api.Assumptions.abort(\"of no reason\");");
    writeTest("WaitingTest", "new java.util.concurrent.CountDownLatch(1).await();");
    writeTest("KilledTest", "Runtime.getRuntime().halt(0);");
    writeTest("StuckTest", "for (long n = 0; n >= 0; n = (n + 1) % 9) { Thread.onSpinWait(); }");
    Path marker = Files.createFile(MODULE.resolve("marker"));
    maven("-Dtest=FineTest,SkippedTest,WaitingTest", "-Dtest.timeout=10 s");
    maven("-Dtest=KilledTest");
    maven("-Dtest=StuckTest", "-Dtest.jvm.timeout=5");
    reports = new TestReports(MODULE, Files.getLastModifiedTime(marker));
    reports.expect(name -> true, false, "");
    reports.allowSkips(List.of("FineTest: of no reason", "SkippedTest: of another reason"));
  }

  private static void writeTest(String name, String statement) throws IOException {
    Files.writeString(
        TESTS.resolve(name + ".java"),
        """
        package red;

        class %s {
          @org.junit.jupiter.api.Test
          void runs() throws Exception {
            %s
          }
        }
        """
            .formatted(name, statement));
  }

  private static void maven(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("bash", "-c", MAVEN, MODULE.toString()));
    command.addAll(List.of("-o", "-B", "-q", "test"));
    command.add("-Dspotless.check.skip=true");
    command.add("-Dmaven.test.failure.ignore=true");
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).directory(ROOT.toFile());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    Process maven =
        builder
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(MODULE.resolve("maven.txt").toFile()))
            .start();
    assertThat(maven.waitFor(3, TimeUnit.MINUTES)).as("Maven ends").isTrue();
  }

  @AfterAll
  static void deleteModule() throws IOException {
    if (Files.exists(MODULE)) {
      try (Stream<Path> files = Files.walk(MODULE)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  @Test
  void countsWhatPassed() {
    assertThat(reports.passed()).isEqualTo(1);
  }

  @Test
  void isRedForATestThatWaitsForEver() {
    assertThat(reports.failed()).isEqualTo(1);
  }

  @Test
  void isRedForAKilledJvm() {
    assertThat(reports.problems()).anyMatch(problem -> problem.startsWith("red.KilledTest has no"));
  }

  @Test
  void isRedForATestThatCannotBeInterrupted() {
    assertThat(reports.problems()).anyMatch(problem -> problem.startsWith("red.StuckTest has no"));
  }

  @Test
  void isRedForASkipThatNothingAllows() {
    assertThat(reports.problems())
        .anyMatch(problem -> problem.startsWith("red.SkippedTest.runs was skipped"));
  }

  @Test
  void hasNoOtherProblem() {
    assertThat(reports.problems()).hasSize(3);
  }
}
