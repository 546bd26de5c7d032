package io.seckill.gateway.admission;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * The highest admission sequence of each SKU that this gateway knows of, and the Redis server it
 * heard it from. After a change of server, data that end below it have lost admissions, also when
 * MySQL has not stored these yet and so knows nothing of them. Thread-safe.
 *
 * <p>Within one server nothing is concluded: data are lost only by another server's taking over, a
 * restart included.
 */
final class HighWaterMarks {

  private final ConcurrentMap<Long, Mark> marks = new ConcurrentHashMap<>();

  /** What is known of the data behind a mark. */
  enum Verdict {
    /** They hold all that this gateway knows of. */
    WHOLE,
    /** Nothing was known when this server was met, and MySQL may not have everything yet. */
    UNPROVEN,
    /** Admissions are missing. Stays so until a higher epoch replaces the data. */
    LOST
  }

  /**
   * A SKU as it was known last.
   *
   * @param server replication id
   * @param first sequence at which this server began, as far as this gateway knows
   * @param seq highest sequence
   */
  record Mark(String server, long epoch, long first, long seq, Verdict verdict) {

    private static Mark of(String server, long epoch, long seq, Verdict verdict) {
      return new Mark(server, epoch, seq, seq, verdict);
    }

    private Mark raisedTo(long higher, Verdict now) {
      return new Mark(server, epoch, first, Math.max(seq, higher), now);
    }

    /** A late answer of the former server may tell of admissions that this one never had. */
    private Mark told(String by, long inEpoch, long upTo) {
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

  /** A server has answered that it admitted a SKU's orders up to this sequence. */
  void told(String server, long skuId, long epoch, long seq) {
    marks.compute(
        skuId,
        (sku, mark) ->
            mark == null
                ? Mark.of(server, epoch, seq, Verdict.WHOLE)
                : mark.told(server, epoch, seq));
  }

  /**
   * A SKU's data were read.
   *
   * @param proven whether MySQL has all that was published before this server
   * @param inUse whether this gateway has used the server already, so that a SKU it has not heard
   *     of came later
   * @return what is known of them now
   */
  Mark found(String server, long skuId, long epoch, long seq, boolean proven, boolean inUse) {
    return marks.compute(
        skuId,
        (sku, mark) ->
            mark == null
                ? Mark.of(server, epoch, seq, proven || inUse ? Verdict.WHOLE : Verdict.UNPROVEN)
                : mark.found(server, epoch, seq, proven));
  }

  /** The latest, or null when nothing is known of the SKU. */
  @Nullable Mark of(long skuId) {
    return marks.get(skuId);
  }

  /** Forgets all other SKUs: nothing can be sold from them any more. */
  void retain(Set<Long> skuIds) {
    marks.keySet().retainAll(skuIds);
  }
}
