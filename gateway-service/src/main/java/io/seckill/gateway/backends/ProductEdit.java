package io.seckill.gateway.backends;

import com.fasterxml.jackson.annotation.JsonFormat;
import io.seckill.common.order.PurchasePolicy;
import java.time.Instant;

/** An operator's validated edit of a SKU, in the form that order-consumer accepts. */
public record ProductEdit(
    String name,
    long priceCents,
    long stock,
    PurchasePolicy policy,
    int limitPerUser,
    @JsonFormat(shape = JsonFormat.Shape.STRING) Instant opensAt,
    @JsonFormat(shape = JsonFormat.Shape.STRING) Instant closesAt) {}
