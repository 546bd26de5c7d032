package io.seckill.consumer.reconciliation;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import java.util.Map;

/**
 * What Redis has of some buckets' users.
 *
 * @param quotas user to units, as they were read
 * @param records by order id
 * @param given order ids given back, with {@code <stock units>:<quota units>}
 * @param requests {@code <user>:<key>} to {@code <order id>:<quantity>}
 */
record RedisPart(
    Map<Long, String> quotas,
    Map<OrderId, AdmissionRecord> records,
    Map<OrderId, String> given,
    Map<String, String> requests) {}
