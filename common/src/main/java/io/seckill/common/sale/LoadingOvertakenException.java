package io.seckill.common.sale;

/** A later loading of the same sale has begun; this loading has written nothing since then. */
public final class LoadingOvertakenException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  LoadingOvertakenException(long skuId) {
    super("another loading of sku " + skuId + " has begun");
  }
}
