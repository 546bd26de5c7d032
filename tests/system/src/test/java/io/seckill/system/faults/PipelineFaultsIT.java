package io.seckill.system.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Faults of everything at once. */
@Tag("proof")
@ExtendWith({TestServers.class, FaultLabExtension.class})
class PipelineFaultsIT {

  private static final Duration CHURN =
      Duration.ofSeconds(Integer.getInteger("seckill.churn.seconds", 8));
  private static final long PAUSE_MS = 50;

  /** Exit code of a JVM that has run its shutdown hooks after SIGTERM: 128 + 15. */
  private static final int TERMINATED = 143;

  private final FaultLab lab;

  PipelineFaultsIT(FaultLab lab) {
    this.lab = lab;
  }

  @Test
  @DisplayName("22: connection churn: a link reset every 50 ms")
  void connectionChurn() {
    List<Integer> files = openFiles();
    List<Integer> threads = threads();
    try (FaultRun run = lab.run("22 connection churn", 2_400, CHURN).begin(100)) {
      int enough = run.load().accepted() + 500;
      List<TcpProxy> links = linksInUse();
      List<Long> broken = links.stream().map(TcpProxy::resetConnections).toList();
      int resets = churn(links, () -> run.load().accepted() >= enough);
      for (int i = 0; i < links.size(); i++) {
        assertThat(links.get(i).resetConnections())
            .as("connections of a link that were reset")
            .isGreaterThan(broken.get(i));
      }
      run.fault(resets + " resets, one every 50 ms");
      run.judge();
      Signals.await("files to be closed", () -> isLike(openFiles(), files, 60));
      Signals.await("threads to end", () -> isLike(threads(), threads, 40));
    }
  }

  /** Leaves out the links to servers that a service does not use. */
  private List<TcpProxy> linksInUse() {
    return lab.all().stream()
        .flatMap(service -> service.links().all().stream())
        .filter(link -> link.openConnections() > 0)
        .toList();
  }

  /**
   * Resets random links, with a fixed seed, for at least the time of a churn and until there is
   * progress; returns the number of resets.
   */
  private static int churn(List<TcpProxy> links, BooleanSupplier progress) {
    Random random = new Random(22);
    long least = CHURN.toMillis() / PAUSE_MS;
    AtomicInteger resets = new AtomicInteger();
    ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();
    try {
      var unused =
          thread.scheduleAtFixedRate(
              () -> {
                links.get(random.nextInt(links.size())).reset();
                resets.incrementAndGet();
              },
              0,
              PAUSE_MS,
              TimeUnit.MILLISECONDS);
      Signals.await(
          "all resets, and 500 purchases accepted under them",
          () -> resets.get() >= least && progress.getAsBoolean());
    } finally {
      thread.shutdownNow();
    }
    return resets.get();
  }

  private static boolean isLike(List<Integer> now, List<Integer> before, int tolerance) {
    for (int i = 0; i < now.size(); i++) {
      if (now.get(i) > before.get(i) + tolerance) {
        return false;
      }
    }
    return true;
  }

  private List<Integer> openFiles() {
    return lab.all().stream().map(ServiceInstance::openFiles).toList();
  }

  private List<Integer> threads() {
    return lab.all().stream().map(ServiceInstance::threads).toList();
  }

  @Test
  @DisplayName("33: shutdown under load: SIGTERM to one of each service")
  void shutdownUnderLoad() {
    try (FaultRun run = lab.run("33 shutdown under load").begin(200)) {
      for (ServiceInstance service : List.of(lab.consumer(1), lab.relay(1), lab.gateway(1))) {
        service.stop();
        assertThat(service.exitCode()).as("exit code of %s", service.name()).isEqualTo(TERMINATED);
        run.fault("SIGTERM to " + service.name() + ", which ended with " + TERMINATED);
      }
      run.judge();
    }
  }
}
