package io.seckill.gateway.verification;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * The highest admission sequence of each SKU that this gateway has seen, and the Redis server that
 * reported it. If the data of another server end below this sequence, they have lost admissions;
 * this is detected even when MySQL has not stored these admissions yet. Thread-safe.
 *
 * <p>No conclusion is drawn while the server stays the same: data are lost only when another server
 * takes over, and a restart counts as another server.
 */
@Component
public final class HighWaterMarks {

  private final ConcurrentMap<Long, Mark> marks = new ConcurrentHashMap<>();

  /** Whether the data of a SKU in Redis are complete. */
  public enum Verdict {
    /** They contain every admission known to this gateway. */
    WHOLE,
    /**
     * This gateway knew nothing of the SKU when it first read this server, and MySQL may not have
     * stored everything yet.
     */
    UNPROVEN,
    /** Admissions are missing. The verdict stays until a higher epoch replaces the data. */
    LOST
  }

  /**
   * Latest known state of a SKU.
   *
   * @param server replication id of the server
   * @param first sequence at which this server began, as far as this gateway has seen
   * @param seq highest sequence
   */
  public record Mark(String server, long epoch, long first, long seq, Verdict verdict) {

    private static Mark of(String server, long epoch, long seq, Verdict verdict) {
      return new Mark(server, epoch, seq, seq, verdict);
    }

    private Mark raisedTo(long higher, Verdict now) {
      return new Mark(server, epoch, first, Math.max(seq, higher), now);
    }

    /** A late reply of the former server may report admissions that the new server never had. */
    private Mark record(String by, long inEpoch, long upTo) {
      if (inEpoch > epoch) {
        return of(by, inEpoch, upTo, Verdict.WHOLE);
      } else if (inEpoch < epoch) {
        return this;
      } else if (server.equals(by)) {
        return raisedTo(upTo, verdict);
      }
      return upTo > first ? raisedTo(upTo, Verdict.LOST) : this;
    }

    private Mark found(String on, long inEpoch, long upTo, boolean proven) {
      if (inEpoch > epoch) {
        return of(on, inEpoch, upTo, Verdict.WHOLE);
      } else if (inEpoch < epoch || verdict == Verdict.LOST) {
        return this;
      }
      Verdict now = proven ? Verdict.WHOLE : verdict;
      if (server.equals(on)) {
        return raisedTo(upTo, now);
      }
      return upTo < seq ? raisedTo(seq, Verdict.LOST) : of(on, epoch, upTo, now);
    }
  }

  /** Records a server's reply that it admitted orders of a SKU up to this sequence. */
  public void record(String server, long skuId, long epoch, long seq) {
    marks.compute(
        skuId,
        (sku, mark) ->
            mark == null
                ? Mark.of(server, epoch, seq, Verdict.WHOLE)
                : mark.record(server, epoch, seq));
  }

  /**
   * Compares the data of a SKU, as read from Redis, with its mark.
   *
   * @param proven whether MySQL has stored everything published before this server took over
   * @param inUse whether this gateway already uses the server, so that a SKU without a mark was
   *     added later
   */
  Mark found(String server, long skuId, long epoch, long seq, boolean proven, boolean inUse) {
    return marks.compute(
        skuId,
        (sku, mark) ->
            mark == null
                ? Mark.of(server, epoch, seq, proven || inUse ? Verdict.WHOLE : Verdict.UNPROVEN)
                : mark.found(server, epoch, seq, proven));
  }

  /** Returns the latest mark, or null when nothing is known of the SKU. */
  public @Nullable Mark of(long skuId) {
    return marks.get(skuId);
  }

  /** Removes the marks of all other SKUs: these can no longer be sold. */
  void retain(Set<Long> skuIds) {
    marks.keySet().retainAll(skuIds);
  }
}
