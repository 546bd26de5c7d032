package io.seckill.bench.lab;

import io.seckill.system.process.Service;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

/** Reads the metrics of the running services. */
public final class ServiceMetrics {

  private static final Duration TIMEOUT = Duration.ofMillis(900);

  private final Lab lab;
  private final HttpClient http = HttpClient.newBuilder().connectTimeout(TIMEOUT).build();

  public ServiceMetrics(Lab lab) {
    this.lab = lab;
  }

  /**
   * Returns the sum of a metric's series, 0 when the service does not run or does not report it.
   *
   * @param series the beginning of their lines
   */
  public double sum(Service service, String series) {
    String address =
        "http://127.0.0.1:" + lab.pipeline().healthPort(service) + "/actuator/prometheus";
    HttpRequest request = HttpRequest.newBuilder(URI.create(address)).timeout(TIMEOUT).build();
    try {
      return sum(http.send(request, BodyHandlers.ofString()).body(), series);
    } catch (IOException e) {
      return 0;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return 0;
    }
  }

  static double sum(String metrics, String series) {
    return metrics
        .lines()
        .filter(line -> line.startsWith(series))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }
}
