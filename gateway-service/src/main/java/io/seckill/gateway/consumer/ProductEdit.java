package io.seckill.gateway.consumer;

import com.fasterxml.jackson.annotation.JsonFormat;
import io.seckill.common.order.PurchasePolicy;
import java.time.Instant;

/** What an operator says about a SKU; checked, in the form order-consumer takes. */
public record ProductEdit(
    String name,
    long priceCents,
    long stock,
    PurchasePolicy policy,
    int limitPerUser,
    @JsonFormat(shape = JsonFormat.Shape.STRING) Instant opensAt,
    @JsonFormat(shape = JsonFormat.Shape.STRING) Instant closesAt) {}
