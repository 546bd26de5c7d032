package io.seckill.bench.stage;

import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.Work;
import io.seckill.bench.report.Figures;
import io.seckill.system.process.Service;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Reads the heap of each running service every second while work is done, and keeps the peak. */
final class HeapWatch {

  private static final String METRIC = "jvm_memory_used_bytes{area=\"heap\"";
  private static final Duration TIMEOUT = Duration.ofMillis(900);

  private final Lab lab;
  private final Figures figures;
  private final Map<Service, Double> peaks = new EnumMap<>(Service.class);
  private final HttpClient http = HttpClient.newBuilder().connectTimeout(TIMEOUT).build();
  private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();

  private HeapWatch(Lab lab, Figures figures) {
    this.lab = lab;
    this.figures = figures;
  }

  /** Runs the work and adds the peaks during it. */
  static void during(Lab lab, Figures figures, Work work) throws Exception {
    HeapWatch watch = new HeapWatch(lab, figures);
    var unused = watch.clock.scheduleAtFixedRate(watch::look, 0, 1, TimeUnit.SECONDS);
    try {
      work.run();
    } finally {
      watch.stop();
    }
  }

  static String key(Service service) {
    return "heap." + service.module().replace('-', '_') + "_mb";
  }

  private void look() {
    for (Service service : Service.values()) {
      peaks.merge(service, heapMb(lab.pipeline().healthPort(service)), Math::max);
    }
  }

  /** Returns 0 when the service does not run or does not report it. */
  private double heapMb(int port) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/actuator/prometheus"))
            .timeout(TIMEOUT)
            .build();
    try {
      return sumMb(http.send(request, BodyHandlers.ofString()).body());
    } catch (IOException e) {
      return 0;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return 0;
    }
  }

  static double sumMb(String metrics) {
    return metrics
            .lines()
            .filter(line -> line.startsWith(METRIC))
            .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
            .sum()
        / (1024 * 1024);
  }

  private void stop() throws InterruptedException {
    clock.shutdown();
    clock.awaitTermination(5, TimeUnit.SECONDS);
    peaks.forEach(
        (service, peak) -> {
          if (peak > 0) {
            figures.add(key(service), peak);
          }
        });
  }
}
