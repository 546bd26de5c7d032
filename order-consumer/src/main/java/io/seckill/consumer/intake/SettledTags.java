package io.seckill.consumer.intake;

import java.util.HashSet;
import java.util.Set;

/**
 * The delivery tags of a channel that are settled: all up to a watermark, and single ones above it.
 * An ack of several deliveries may reach up to the watermark and never beyond (facts.md 22): above
 * it there is a delivery that is still unsettled. Tags are 1, 2, 3 and so on. Not thread-safe.
 */
final class SettledTags {

  private final Set<Long> above = new HashSet<>();
  private long watermark;

  /**
   * Adds tags that are being settled.
   *
   * @param tags ascending, none of them added before
   * @return how many of them, from the first, are at or below the watermark now
   */
  int add(long[] tags) {
    for (long tag : tags) {
      above.add(tag);
    }
    while (above.remove(watermark + 1)) {
      watermark++;
    }
    int below = 0;
    while (below < tags.length && tags[below] <= watermark) {
      below++;
    }
    return below;
  }
}
