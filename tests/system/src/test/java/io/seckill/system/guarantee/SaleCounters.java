package io.seckill.system.guarantee;

/**
 * Counters of gateway, relay and consumer for one sale.
 *
 * @param admitted orders, by admit.lua
 * @param published orders, by settle.lua, once for each that left a private queue
 * @param settled orders and aliases, by order-consumer
 * @param aliased second ids of orders of this sale
 * @param admissionSeq sequence number of Redis's last admission
 * @param storedSeq highest sequence number that MySQL has
 */
public record SaleCounters(
    long admitted, long published, long settled, long aliased, long admissionSeq, long storedSeq) {

  SaleCounters plus(SaleCounters other) {
    return new SaleCounters(
        admitted + other.admitted,
        published + other.published,
        settled + other.settled,
        aliased + other.aliased,
        admissionSeq + other.admissionSeq,
        storedSeq + other.storedSeq);
  }
}
