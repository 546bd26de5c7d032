package io.seckill.common.order;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One log line per order and stage, at debug on the logger {@code io.seckill.order} of each
 * service: {@code order=… sku=… trace=… stage=…}. The trace id is that of the purchase's W3C
 * traceparent, {@code -} when it had none. While debug is off, a stage costs one check of the
 * logger's level.
 */
public final class OrderTrail {

  private static final Logger log = LoggerFactory.getLogger("io.seckill.order");

  private static final int TRACE_ID_FROM = 3;
  private static final int TRACE_ID_TO = 35;

  private OrderTrail() {}

  /** Whether lines are written; check it before iterating over a batch. */
  public static boolean isOn() {
    return log.isDebugEnabled();
  }

  /** Writes a line; {@code stage} is one fixed word, after which a reason may follow. */
  public static void mark(OrderMessage order, String stage) {
    mark(order.orderId(), order.skuId(), order.traceparent(), stage);
  }

  /** As {@link #mark(OrderMessage, String)}, where there is no message. */
  public static void mark(OrderId orderId, long skuId, @Nullable String traceparent, String stage) {
    if (log.isDebugEnabled()) {
      log.debug("order={} sku={} trace={} stage={}", orderId, skuId, traceId(traceparent), stage);
    }
  }

  private static String traceId(@Nullable String traceparent) {
    return traceparent == null ? "-" : traceparent.substring(TRACE_ID_FROM, TRACE_ID_TO);
  }
}
