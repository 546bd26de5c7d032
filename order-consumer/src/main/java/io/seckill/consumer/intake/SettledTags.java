package io.seckill.consumer.intake;

import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * The delivery tags of a channel that are settled: all up to a watermark, and runs of them above
 * it, at most one for each unsettled delivery. An ack of several deliveries may reach up to the
 * watermark and never beyond (facts.md 22): above it there is a delivery that is still unsettled.
 * Tags are 1, 2, 3 and so on. Not thread-safe.
 */
final class SettledTags {

  /** First tag of each run above the watermark, and its last one. */
  private final NavigableMap<Long, Long> runs = new TreeMap<>();

  private long watermark;

  /**
   * Adds tags that are being settled.
   *
   * @param tags ascending, none of them added before
   * @return how many of them, from the first, are at or below the watermark now
   */
  int add(long[] tags) {
    for (long tag : tags) {
      add(tag);
    }
    int below = 0;
    while (below < tags.length && tags[below] <= watermark) {
      below++;
    }
    return below;
  }

  private void add(long tag) {
    Long joined = runs.remove(tag + 1);
    long last = joined == null ? tag : joined;
    if (tag == watermark + 1) {
      watermark = last;
      return;
    }
    Map.Entry<Long, Long> before = runs.lowerEntry(tag);
    boolean joins = before != null && before.getValue() == tag - 1;
    runs.put(joins ? before.getKey() : tag, last);
  }

  /** Number of runs above the watermark, for a test of how much memory they need. */
  int runs() {
    return runs.size();
  }
}
