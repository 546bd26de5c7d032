package io.seckill.bench.stage;

import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.Work;
import io.seckill.bench.report.Figures;
import io.seckill.system.process.Service;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Reads the heap of each running service every second while work is done, and keeps the peak. */
final class HeapWatch {

  private static final double MB = 1024 * 1024;

  private final Lab lab;
  private final Figures figures;
  private final Map<Service, Double> peaks = new EnumMap<>(Service.class);
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
      double bytes = lab.meter(service, "jvm_memory_used_bytes", "area=\"heap\"");
      peaks.merge(service, bytes / MB, Math::max);
    }
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
