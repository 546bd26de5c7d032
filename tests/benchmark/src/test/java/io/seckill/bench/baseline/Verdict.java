package io.seckill.bench.baseline;

/** What a purchase is answered. */
public enum Verdict {
  ACCEPTED,
  /** The same key was accepted before. */
  REPEATED,
  QUOTA_EXCEEDED,
  SOLD_OUT,
  /** It lost to others too often; nothing was written. */
  BUSY
}
