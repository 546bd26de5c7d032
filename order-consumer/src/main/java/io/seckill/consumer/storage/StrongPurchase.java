package io.seckill.consumer.storage;

import org.jspecify.annotations.Nullable;

/**
 * A purchase of a strong sale. Every member lies within the bounds of {@link
 * io.seckill.common.order.OrderMessage}; the caller has checked them.
 */
public record StrongPurchase(
    long skuId, long userId, String requestId, int quantity, @Nullable String traceparent) {}
