package io.seckill.bench.yardstick;

import io.seckill.testing.RabbitVhost;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the broker itself can do: RabbitMQ's own PerfTest, in its own JVM, with the relay's number
 * of publishers, window and message size, into quorum queues that nobody reads.
 */
public final class PerfTest {

  /** Class path written by scripts/bench. */
  private static final String CLASS_PATH_FILE = "seckill.bench.perftest.classpath";

  private static final Pattern CONFIRMED = Pattern.compile("confirmed:? ([0-9.]+)(k?) ?msg/s");
  private static final int WARM_UP_SAMPLES = 2;
  private static final int QUEUES = 4;

  private PerfTest() {}

  /**
   * @param vhost to itself; its queues are left to be thrown away with it
   * @param publishers one channel each, over 4 queues
   * @param window most unconfirmed of each
   * @param bytes of a message
   * @return confirmed messages per second, without the first two seconds
   */
  public static double publishedPerSecond(
      RabbitVhost vhost, int publishers, int window, int bytes, Duration duration)
      throws IOException, InterruptedException {
    List<String> command =
        List.of(
            System.getProperty("java.home") + "/bin/java",
            "-cp",
            Files.readString(Path.of(System.getProperty(CLASS_PATH_FILE))).strip(),
            "com.rabbitmq.perf.PerfTest",
            "--uri",
            vhost.url(),
            "--queue-pattern",
            "perf-%d",
            "--queue-pattern-from",
            "0",
            "--queue-pattern-to",
            "" + (Math.min(publishers, QUEUES) - 1),
            "--quorum-queue",
            "--producers",
            "" + publishers,
            "--consumers",
            "0",
            "--confirm",
            "" + window,
            "--flag",
            "persistent",
            "--flag",
            "mandatory",
            "--size",
            "" + bytes,
            "--time",
            "" + (duration.toSeconds() + WARM_UP_SAMPLES));
    return meanConfirmed(Programs.output(command));
  }

  static double meanConfirmed(String said) {
    Matcher found = CONFIRMED.matcher(said);
    double sum = 0;
    int samples = 0;
    while (found.find()) {
      samples++;
      if (samples > WARM_UP_SAMPLES) {
        sum += Double.parseDouble(found.group(1)) * (found.group(2).isEmpty() ? 1 : 1_000);
      }
    }
    if (samples <= WARM_UP_SAMPLES) {
      throw new IllegalStateException("PerfTest said no rates: " + said);
    }
    return sum / (samples - WARM_UP_SAMPLES);
  }
}
