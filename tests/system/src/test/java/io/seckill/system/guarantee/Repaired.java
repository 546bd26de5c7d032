package io.seckill.system.guarantee;

/**
 * One repair that a reconciliation has made, as its report says.
 *
 * @param subject order id, user or SKU
 */
public record Repaired(String kind, String subject, String found, String wanted) {}
