package io.seckill.system.statements;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The first line of a script decides whether a full Redis runs it. Scripts that free memory, or on
 * which the answers to repeats and refusals depend, are headed allow-oom; those that sell or load
 * are not.
 */
class ScriptFlagsTest {

  private static final Path ROOT = Path.of(System.getProperty("seckill.root"));
  private static final String ALLOW_OOM = "#!lua flags=allow-oom";
  private static final String NO_WRITES = "#!lua flags=no-writes";

  @Test
  void listsTheScriptsByTheirFlags() throws IOException {
    Map<String, Set<String>> byFlags;
    try (Stream<Path> modules = Files.list(ROOT)) {
      List<Path> scripts =
          modules
              .map(module -> module.resolve("src/main/resources"))
              .filter(Files::isDirectory)
              .flatMap(ScriptFlagsTest::scriptsIn)
              .toList();
      byFlags =
          scripts.stream()
              .collect(groupingBy(ScriptFlagsTest::flags, mapping(ScriptFlagsTest::name, toSet())));
    }

    assertThat(byFlags.get(ALLOW_OOM))
        .containsExactlyInAnyOrder(
            "adopt",
            "claim",
            "compensate",
            "forget",
            "lease",
            "record_results",
            "register",
            "remove_sale",
            "renew",
            "sale_state",
            "sale_stop",
            "set_published",
            "set_quotas",
            "set_state",
            "set_stock",
            "settle",
            "shard_elsewhere",
            "stock_change");
    assertThat(byFlags.get(NO_WRITES))
        .containsExactlyInAnyOrder("inspect", "order_status", "replication_id", "waiting_orders");
    assertThat(byFlags.get(""))
        .as("they run until their first write")
        .containsExactlyInAnyOrder(
            "admit",
            "ask",
            "balance_items",
            "bucket_of",
            "count_late",
            "lanes",
            "loading_begin",
            "loading_clear",
            "loading_finish",
            "loading_load",
            "loading_probe",
            "restore_orders",
            "sale_closing",
            "shard_read");
    assertThat(byFlags).containsOnlyKeys(ALLOW_OOM, NO_WRITES, "");
  }

  private static Stream<Path> scriptsIn(Path resources) {
    try (Stream<Path> files = Files.walk(resources)) {
      return files.filter(file -> file.toString().endsWith(".lua")).toList().stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String name(Path script) {
    return script.getFileName().toString().replace(".lua", "");
  }

  /** The first line, empty for a comment. */
  private static String flags(Path script) {
    try {
      String first = Files.readAllLines(script).get(0);
      return first.startsWith("--") ? "" : first;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
