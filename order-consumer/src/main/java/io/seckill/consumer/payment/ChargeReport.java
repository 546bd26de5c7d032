package io.seckill.consumer.payment;

import io.seckill.common.order.OrderId;
import io.seckill.support.contract.OrderRow;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A report of the provider about one charge. Two reports with the same content are one report, even
 * with different event ids. Without a currency it is the one agreed with the provider.
 */
record ChargeReport(
    ReportKind kind,
    String chargeId,
    OrderId orderId,
    long amountCents,
    @Nullable String currency) {

  /** Whether the money was taken or returned. */
  enum ReportKind {
    CHARGED,
    REFUNDED
  }

  /** The report that the provider has taken the price of an order. */
  static ChargeReport ofPrice(OrderRow order, String chargeId) {
    return new ChargeReport(
        ReportKind.CHARGED, chargeId, order.orderId(), order.amountCents(), null);
  }

  byte[] hash() {
    List<Object> content =
        List.of(kind, chargeId, orderId, amountCents, currency == null ? "" : currency);
    return sha256(content.toString().getBytes(StandardCharsets.UTF_8));
  }

  static byte[] sha256(byte[] content) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(content);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
