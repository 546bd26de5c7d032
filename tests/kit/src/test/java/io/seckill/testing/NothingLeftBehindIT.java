package io.seckill.testing;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@Tag("proof")
@ExtendWith(TestServers.class)
class NothingLeftBehindIT {

  private static final String MARK = "SECKILL_TEST_RUN=of-another-jvm";

  @Test
  void leavesNoServerAndNoFileWhenTheJvmIsKilled() throws Exception {
    leavesNothingAfter(jvm -> Bounded.waitFor(jvm.destroyForcibly()));
  }

  /** As scripts/test ends what is left of a run: a Redis server overwrites its mark. */
  @Test
  void leavesNoServerAndNoFileWhenAllThatIsMarkedIsEnded() throws Exception {
    Path leftovers = Path.of(System.getProperty("seckill.root"), "scripts/lib/leftovers.sh");
    leavesNothingAfter(
        jvm ->
            Commands.run(
                List.of("bash", "-c", ". \"$0\"; PROGRAM=test; end_marked " + MARK, "" + leftovers),
                Map.of()));
  }

  private static void leavesNothingAfter(Consumer<Process> end) throws IOException {
    Process jvm = startServersInAnotherJvm();
    String[] ready = awaitReady(jvm);
    Path directory = Path.of(ready[1]);
    List<Integer> ports = Arrays.stream(ready).skip(2).map(Integer::valueOf).toList();
    assertThat(directory).isDirectory();
    assertThat(ports).allMatch(Ports::isOpen);

    end.accept(jvm);

    eventually().until(() -> ports.stream().noneMatch(Ports::isOpen));
    eventually().untilAsserted(() -> assertThat(directory).doesNotExist());
    eventually().untilAsserted(() -> assertThat(processesOf(directory)).isEmpty());
  }

  /** A process that is frozen takes no signal to end. */
  @Test
  void leavesNothingOfAFrozenServerThatIsKilledOrClosed() {
    RedisServer redis = RedisServer.start();
    int port = redis.port();
    redis.freeze();
    redis.kill();
    assertThat(Ports.isOpen(port)).isFalse();
    redis.restart();
    assertThat(redis.port()).isEqualTo(port);
    redis.freeze();
    redis.close();
    assertThat(Ports.isOpen(port)).isFalse();
    assertThat(redis.isRunning()).isFalse();
  }

  /** The first node runs, and takes no users from a client without a password. */
  @Test
  void leavesNothingOfReplicasThatCannotBeStarted() throws IOException {
    List<Path> before = homes();

    assertThatThrownBy(() -> RedisReplicaSet.start("requirepass secret"))
        .hasStackTraceContaining("NOAUTH");

    assertThat(homes()).isEqualTo(before);
  }

  private static List<Path> homes() throws IOException {
    try (Stream<Path> homes = Files.list(RunDirectory.path())) {
      return homes.sorted().toList();
    }
  }

  @Test
  void saysWhatTheServerSaidWhenItCannotStart() {
    assertThatThrownBy(() -> RedisServer.start("no-such-setting 1"))
        .isInstanceOf(ServerStartException.class)
        .hasMessageContaining("ended while starting")
        .hasMessageContaining("no-such-setting");
  }

  private static Process startServersInAnotherJvm() throws IOException {
    ProcessBuilder command =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Dseckill.test.servers=" + System.getProperty("seckill.test.servers", "processes"),
                "-cp",
                System.getProperty("java.class.path"),
                ServersOfAKilledJvm.class.getName())
            .redirectErrorStream(true);
    String[] mark = MARK.split("=", -1);
    command.environment().put(mark[0], mark[1]);
    command.environment().put("MNESIA_DIR", "/dev/null/of-others"); // no server goes there
    return command.start();
  }

  private static String[] awaitReady(Process jvm) throws IOException {
    BufferedReader output =
        new BufferedReader(new InputStreamReader(jvm.getInputStream(), StandardCharsets.UTF_8));
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      if (line.startsWith("ready ")) {
        return line.split(" ");
      }
    }
    throw new AssertionError("The other JVM ended before its servers were ready");
  }

  private static List<String> processesOf(Path directory) {
    return ProcessHandle.allProcesses()
        .flatMap(process -> process.info().commandLine().stream())
        .filter(command -> command.contains(directory.toString()))
        .toList();
  }
}
