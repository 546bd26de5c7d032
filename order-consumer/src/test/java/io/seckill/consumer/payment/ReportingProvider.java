package io.seckill.consumer.payment;

import io.seckill.common.order.OrderId;
import io.seckill.common.payment.PaymentProvider;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** A provider that closes payments, and reports its charges by signed callbacks. Thread-safe. */
final class ReportingProvider implements PaymentProvider {

  static final long DECLINED_CENTS = 66_600;

  private final String secret;
  private final Map<OrderId, Account> accounts = new HashMap<>();
  private long charges;
  private long events;

  ReportingProvider(String secret) {
    this.secret = secret;
  }

  /** What the provider has of a payment; without a charge once it is closed. */
  private record Account(Optional<Charge.Charged> charge, long cents) {
    private static final Account CLOSED = new Account(Optional.empty(), 0);
  }

  @Override
  public synchronized Charge charge(OrderId orderId, long amountCents) {
    if (amountCents == DECLINED_CENTS) {
      return new Charge.Declined();
    }
    Optional<Charge.Charged> charge =
        accounts
            .computeIfAbsent(
                orderId,
                id -> new Account(Optional.of(new Charge.Charged("ch-" + ++charges)), amountCents))
            .charge();
    return charge.isPresent() ? charge.get() : new Charge.Declined();
  }

  @Override
  public synchronized Optional<Charge.Charged> find(OrderId orderId) {
    return accounts.getOrDefault(orderId, Account.CLOSED).charge();
  }

  @Override
  public synchronized void refund(OrderId orderId) {
    accounts.put(orderId, Account.CLOSED);
  }

  @Override
  public Duration longestBookingDelay() {
    return Duration.ZERO;
  }

  /** Sends the report of a charge once more. */
  synchronized SignedCallback report(OrderId orderId) {
    Account account = accounts.getOrDefault(orderId, Account.CLOSED);
    return SignedCallback.now(
        secret,
        """
        {"eventId":"evt-%d","type":"CHARGED","orderId":"%s","chargeId":"%s","amountCents":%d}\
        """
            .formatted(
                ++events, orderId, account.charge().orElseThrow().chargeId(), account.cents()));
  }
}
