package io.seckill.system.load;

import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * The result of a {@link LoadPlan}.
 *
 * @param byStatus answers by HTTP status
 * @param broken requests without an answer: connection broken, or none within the time limit
 * @param seconds from the first request to the last answer
 * @param latencyMicros from the moment a request was due to the end of its answer
 */
public record LoadResult(
    Map<Integer, Long> byStatus, long broken, double seconds, Histogram latencyMicros) {

  public long answers(int status) {
    return byStatus.getOrDefault(status, 0L);
  }

  public double perSecond() {
    return byStatus.values().stream().mapToLong(Long::longValue).sum() / seconds;
  }

  public double percentileMs(double percentile) {
    return latencyMicros.getValueAtPercentile(percentile) / 1_000.0;
  }
}
