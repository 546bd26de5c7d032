package io.seckill.system.process;

import static java.util.stream.Collectors.joining;

import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

/**
 * One scrape of some meters of a service, as Prometheus sees it. A scrape of all meters takes a
 * service tens of milliseconds of processor time, and tests poll ten times a second.
 *
 * @param date the {@code Date} header; empty if the service does not send it
 */
public record ServiceMetrics(List<String> lines, Optional<String> date) {

  /** Longer than a machine that is busy stands still. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** Suffix that samples of a meter have and its name does not. */
  private static final Pattern SUFFIX = Pattern.compile("_(total|count|sum|bucket|max)$");

  /**
   * @param meters their names, as in samples
   * @throws UncheckedIOException when the service does not answer
   */
  public static ServiceMetrics of(int port, String... meters) {
    String names =
        Stream.of(meters)
            .flatMap(meter -> Stream.of(meter, SUFFIX.matcher(meter).replaceFirst("")))
            .distinct()
            .collect(joining(","));
    HttpResponse<String> answer =
        LocalHttp.get(port, "/actuator/prometheus?includedNames=" + names, PATIENCE);
    return new ServiceMetrics(
        answer.body().lines().filter(line -> !line.startsWith("#")).toList(),
        answer.headers().firstValue("Date"));
  }

  /** The time of day when the service answered, by its own clock and to the second. */
  public Instant answeredAt() {
    return ZonedDateTime.parse(date.orElseThrow(), DateTimeFormatter.RFC_1123_DATE_TIME)
        .toInstant();
  }

  /**
   * The sum of a meter's samples.
   *
   * @param labels texts such as {@code state="running"}, and a sample must carry them all
   */
  public double sum(String meter, String... labels) {
    return samples(meter, labels).sum();
  }

  /** As {@link #sum}, but returns each sample. */
  public DoubleStream samples(String meter, String... labels) {
    return lines.stream()
        .filter(line -> line.startsWith(meter + "{") || line.startsWith(meter + " "))
        .filter(line -> Stream.of(labels).allMatch(line::contains))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)));
  }
}
