package io.seckill.consumer.wallet;

import io.seckill.common.order.OrderId;
import io.seckill.common.payment.PaymentUnavailableException;
import io.seckill.consumer.payment.ChargesInTransaction;
import io.seckill.consumer.wallet.WalletBatch.ChargeRow;
import io.seckill.support.contract.WalletKind;
import io.seckill.support.contract.WalletOperation;
import io.seckill.support.contract.WalletOutcome;
import io.seckill.support.contract.WalletOutcome.WalletCode;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.stereotype.Component;

/**
 * Pays for orders from the wallets of their users. The charge of an order has its id. An order that
 * costs nothing is paid without one. Primary, because a provider may be installed, too.
 */
@Component
@Primary
@ConditionalOnProperty(name = "seckill.payment.provider", havingValue = "wallet")
record WalletPayments(Wallets wallets, WalletAccounts accounts) implements ChargesInTransaction {

  @Override
  public Charge charge(OrderId orderId, long amountCents) {
    throw new IllegalStateException("a wallet is charged for its user only");
  }

  @Override
  public Charge charge(ChargeRequest request) {
    if (request.amountCents() == 0) {
      return charged(request.orderId());
    }
    var unused = accounts.begin(List.of(request.userId()));
    return answer(request.orderId(), wallets.execute(operation(request)).code());
  }

  @Override
  public boolean endow(Collection<Long> users) {
    return accounts.begin(users);
  }

  @Override
  public Map<OrderId, Charge> chargeAll(
      JdbcOperations transaction,
      Collection<ChargeRequest> requests,
      boolean waits,
      boolean areNew) {
    List<ChargeRequest> costing =
        requests.stream().filter(request -> request.amountCents() > 0).toList();
    Map<OrderId, Charge> charges = new HashMap<>();
    requests.forEach(request -> charges.put(request.orderId(), charged(request.orderId())));
    if (!costing.isEmpty()) {
      List<WalletOutcome> outcomes =
          WalletTransactions.decide(
              transaction,
              costing.stream().map(WalletPayments::operation).toList(),
              areNew,
              waits,
              true);
      wallets.countAfterCommit(outcomes);
      for (int i = 0; i < costing.size(); i++) {
        OrderId id = costing.get(i).orderId();
        WalletCode code = outcomes.get(i).code();
        if (code == WalletCode.BUSY && waits) {
          throw ProblemException.of(ProblemCode.BUSY, "Send the same request again.");
        } else if (code == WalletCode.BUSY) {
          charges.remove(id);
        } else {
          charges.put(id, answer(id, code));
        }
      }
    }
    return charges;
  }

  private static WalletOperation operation(ChargeRequest request) {
    long id = request.orderId().value();
    return new WalletOperation(
        request.userId(), WalletKind.CHARGE, "order:" + id, request.amountCents(), id, null);
  }

  private Charge answer(OrderId orderId, WalletCode code) {
    return switch (code) {
      case DONE -> charged(orderId);
      case REPEATED -> find(orderId).map(Charge.class::cast).orElseGet(Charge.Declined::new);
      case BUSY, WALLET_UNAVAILABLE -> throw unavailable(code);
      default -> new Charge.Declined();
    };
  }

  private static PaymentUnavailableException unavailable(WalletCode code) {
    return new PaymentUnavailableException("a wallet cannot be used now: " + code, null);
  }

  @Override
  public Optional<Charge.Charged> find(OrderId orderId) {
    return accounts
        .find(orderId.value())
        .filter(ChargeRow::isInForce)
        .map(charge -> charged(orderId));
  }

  @Override
  public boolean hasCharge(OrderId orderId) {
    return accounts.find(orderId.value()).isPresent();
  }

  private static Charge.Charged charged(OrderId orderId) {
    return new Charge.Charged(ID_PREFIX + orderId);
  }

  @Override
  public void refund(OrderId orderId) {
    WalletCode code = wallets.close(orderId.value(), "refund:" + orderId);
    if (code != WalletCode.DONE) {
      throw unavailable(code);
    }
  }

  /** Zero, because a refund closes the charge. */
  @Override
  public Duration longestBookingDelay() {
    return Duration.ZERO;
  }
}
