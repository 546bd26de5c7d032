package io.seckill.system.observability;

import static java.util.stream.Collectors.toCollection;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** The metrics of one service, as Prometheus scrapes them. */
record Scrape(List<String> lines) {

  private static final HttpClient HTTP =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();

  static Scrape of(int port) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/actuator/prometheus"))
            .timeout(Duration.ofSeconds(10))
            .build();
    try {
      return new Scrape(HTTP.send(request, BodyHandlers.ofLines()).body().toList());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /**
   * Declared names of our metrics; the maximum of a histogram is not counted as a metric of its
   * own.
   */
  Set<String> families() {
    Set<String> declared =
        lines.stream()
            .filter(line -> line.startsWith("# TYPE seckill_"))
            .map(line -> line.split(" ", -1)[2])
            .collect(toCollection(TreeSet::new));
    declared.removeIf(
        name -> name.endsWith("_max") && declared.contains(name.replaceAll("_max$", "")));
    return declared;
  }

  /** Names of samples of any metric, as queries use them. */
  Set<String> samples() {
    return lines.stream()
        .filter(line -> !line.startsWith("#"))
        .map(line -> line.split("[{ ]", -1)[0])
        .collect(toCollection(TreeSet::new));
  }
}
