package io.seckill.system.load;

import io.seckill.testing.Bounded;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Closed-loop load by wrk, one thread: each connection sends its next request after the previous
 * answer. Suited to throughput; its latencies omit the requests that a slow server delays before
 * they are sent.
 */
public final class Wrk {

  private static final Pattern RATE = Pattern.compile("Requests/sec:\\s+([0-9.]+)");
  private static final Pattern TOTAL = Pattern.compile("(\\d+) requests in ");
  private static final Pattern REFUSED = Pattern.compile("Non-2xx or 3xx responses: (\\d+)");
  private static final Pattern SOCKETS =
      Pattern.compile("Socket errors: connect (\\d+), read (\\d+), write (\\d+), timeout (\\d+)");

  /** Printed by wrk.lua. */
  private static final Pattern ROUNDS = Pattern.compile("Rounds: (\\d+)");

  private static final Pattern PERCENTILE = Pattern.compile("(50|99)%\\s+([0-9.]+)(us|ms|s)\\b");

  private Wrk() {}

  /**
   * The output of wrk.
   *
   * @param perSecond answers per second
   * @param answers answers in all
   * @param notOk those with another status than 2xx or 3xx
   * @param socketErrors broken connections and time-outs
   * @param rounds how often it started again with the first request after sending all
   * @param p50Ms median latency as seen by a waiting client
   * @param p99Ms 99th percentile of the same
   */
  public record Result(
      double perSecond,
      long answers,
      long notOk,
      long socketErrors,
      long rounds,
      double p50Ms,
      double p99Ms) {

    /**
     * Answers that were not the expected ones, and requests without an answer.
     *
     * @param refusals expected answers with another status than 2xx or 3xx, as the server counted
     */
    public long failed(long refusals) {
      return Math.max(0, notOk - refusals) + socketErrors;
    }
  }

  /**
   * Sends the file's requests over and over from its beginning.
   *
   * @throws IllegalStateException with wrk's output when it fails
   */
  public static Result run(int port, int connections, Duration duration, RequestFile requests)
      throws IOException, InterruptedException {
    Path script = script();
    try {
      Process wrk =
          new ProcessBuilder(
                  List.of(
                      "wrk",
                      "-t1",
                      "-c" + connections,
                      "-d" + duration.toSeconds() + "s",
                      "--timeout",
                      "10s",
                      "--latency",
                      "-s",
                      script.toString(),
                      "http://127.0.0.1:" + port,
                      "--",
                      requests.path().toString(),
                      "" + requests.length()))
              .redirectErrorStream(true)
              .start();
      String said = new String(wrk.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (Bounded.waitFor(wrk) != 0) {
        throw new IllegalStateException("wrk failed: " + said);
      }
      return parse(said);
    } finally {
      Files.deleteIfExists(script);
    }
  }

  static Result parse(String said) {
    return new Result(
        Double.parseDouble(first(RATE, said, "missing")),
        Long.parseLong(first(TOTAL, said, "missing")),
        Long.parseLong(first(REFUSED, said, "0")),
        socketErrors(said),
        Long.parseLong(first(ROUNDS, said, "missing")),
        percentileMs("50", said),
        percentileMs("99", said));
  }

  private static String first(Pattern pattern, String said, String otherwise) {
    Matcher found = pattern.matcher(said);
    return found.find() ? found.group(1) : otherwise;
  }

  private static long socketErrors(String said) {
    Matcher found = SOCKETS.matcher(said);
    long errors = 0;
    if (found.find()) {
      for (int kind = 1; kind <= found.groupCount(); kind++) {
        errors += Long.parseLong(found.group(kind));
      }
    }
    return errors;
  }

  private static double percentileMs(String percentile, String said) {
    Matcher found = PERCENTILE.matcher(said);
    while (found.find()) {
      if (found.group(1).equals(percentile)) {
        double value = Double.parseDouble(found.group(2));
        return switch (found.group(3)) {
          case "us" -> value / 1_000;
          case "ms" -> value;
          default -> value * 1_000;
        };
      }
    }
    return Double.NaN;
  }

  private static Path script() throws IOException {
    Path script = Files.createTempFile("seckill-bench-", ".lua");
    try (InputStream in = Wrk.class.getResourceAsStream("wrk.lua")) {
      Files.write(script, in.readAllBytes());
    }
    return script;
  }
}
