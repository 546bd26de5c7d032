package io.seckill.bench.baseline;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.seckill.bench.lab.CpuTimes;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.report.Figures;
import io.seckill.testing.Bounded;
import io.seckill.testing.RabbitVhost;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The ceiling of the broker: RabbitMQ's PerfTest, in its own JVM, with the relay's number of
 * publishers, window and message size, into quorum queues of a separate vhost.
 */
public final class PerfTest {

  /** Class path written by scripts/bench. */
  private static final String CLASS_PATH_FILE = "seckill.bench.perftest.classpath";

  /** One line a second. */
  private static final Pattern CONFIRMED = Pattern.compile("confirmed:? ([0-9.]+)(k?) ?msg/s");

  private static final String NAME = "perf-";
  private static final int QUEUES = 4;

  /** Of a consumer: the batches of order-consumer, acked with one frame each. */
  private static final int BATCH = 500;

  private static final int PREFETCH = 8 * BATCH;

  /** PerfTest is stopped long before. */
  private static final int MOST_SECONDS = 600;

  private PerfTest() {}

  /**
   * A figure to be measured.
   *
   * @param messages confirmed messages after which the figure is taken
   */
  public record Goal(String rateKey, int messages) {}

  /**
   * What PerfTest does.
   *
   * @param publishers number of publishers, one channel each, over 4 queues
   * @param consumers of each queue
   * @param window most unconfirmed messages per publisher
   * @param bytes size of a message
   */
  public record Load(int publishers, int consumers, int window, int bytes) {

    int queues() {
      return Math.min(publishers, QUEUES);
    }
  }

  /**
   * Publishes for the relay's warm-up time, with its queues purged every second, and then without
   * purges until the messages of the last goal are confirmed. Adds the confirmed messages per
   * second and the CPU time per message.
   *
   * @param load what PerfTest does
   * @param goals in ascending order of messages
   */
  public static void measure(Lab lab, Figures figures, Load load, List<Goal> goals)
      throws IOException, InterruptedException, TimeoutException {
    RabbitVhost vhost = lab.rabbitServer().newVhost();
    int queues = load.queues();
    Process process = new ProcessBuilder(command(vhost, load)).redirectErrorStream(true).start();
    try (Connection connection = Lab.broker(vhost).newConnection("perf-test");
        BufferedReader said = process.inputReader()) {
      Channel channel = connection.createChannel();
      warmUp(said, channel, queues, lab.settings().warmUp().toSeconds());
      CpuTimes before = CpuTimes.now();
      List<Double> confirmed = new ArrayList<>();
      for (Goal goal : goals) {
        readUntil(said, goal.messages(), confirmed);
        figures.add(goal.rateKey(), sum(confirmed) / confirmed.size());
        before.addSince(figures, goal.rateKey(), (long) sum(confirmed));
      }
      process.destroy();
      Bounded.waitFor(process);
      for (int queue = 0; queue < queues; queue++) {
        channel.queueDelete(NAME + queue);
      }
    } finally {
      process.destroyForcibly();
    }
  }

  private static void warmUp(BufferedReader said, Channel channel, int queues, long seconds)
      throws IOException {
    for (long second = 0; second < seconds; second++) {
      nextConfirmed(said);
      for (int queue = 0; queue < queues; queue++) {
        channel.queuePurge(NAME + queue);
      }
    }
    nextConfirmed(said); // this second is affected by the last purge
  }

  /** Adds the number of each second until the sum reaches {@code messages}. */
  static void readUntil(BufferedReader said, int messages, List<Double> confirmed)
      throws IOException {
    while (sum(confirmed) < messages) {
      confirmed.add(nextConfirmed(said));
    }
  }

  private static double sum(List<Double> confirmed) {
    return confirmed.stream().mapToDouble(Double::doubleValue).sum();
  }

  /**
   * @return messages confirmed in the next second that PerfTest reports
   */
  private static double nextConfirmed(BufferedReader said) throws IOException {
    StringBuilder other = new StringBuilder();
    for (String line = said.readLine(); line != null; line = said.readLine()) {
      Matcher found = CONFIRMED.matcher(line);
      if (found.find()) {
        return Double.parseDouble(found.group(1)) * (found.group(2).isEmpty() ? 1 : 1_000);
      }
      other.append(line).append('\n');
    }
    throw new IllegalStateException("PerfTest ended early: " + other);
  }

  private static List<String> command(RabbitVhost vhost, Load load) throws IOException {
    return List.of(
        System.getProperty("java.home") + "/bin/java",
        "-cp",
        Files.readString(Path.of(System.getProperty(CLASS_PATH_FILE))).strip(),
        "com.rabbitmq.perf.PerfTest",
        "--uri",
        vhost.url(),
        "--queue-pattern",
        NAME + "%d",
        "--queue-pattern-from",
        "0",
        "--queue-pattern-to",
        "" + (load.queues() - 1),
        "--quorum-queue",
        "--producers",
        "" + load.publishers(),
        "--consumers",
        "" + load.consumers() * load.queues(),
        "--qos",
        "" + PREFETCH,
        "--multi-ack-every",
        "" + BATCH,
        "--confirm",
        "" + load.window(),
        "--flag",
        "persistent",
        "--flag",
        "mandatory",
        "--size",
        "" + load.bytes(),
        "--time",
        "" + MOST_SECONDS);
  }
}
