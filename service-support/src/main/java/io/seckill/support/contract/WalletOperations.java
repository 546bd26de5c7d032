package io.seckill.support.contract;

import io.seckill.common.order.OrderMessage;
import io.seckill.support.web.ProblemException;
import java.util.List;
import java.util.Objects;

/** Operations on wallets, executed in this order for each user. An invalid one refuses them all. */
public record WalletOperations(List<WalletOperation> operations) {

  private static final int MAX_OPERATIONS = 512;

  public WalletOperations {
    if (operations == null || operations.isEmpty() || operations.size() > MAX_OPERATIONS) {
      throw ProblemException.invalid(
          "operations", "operations must be an array of 1 to " + MAX_OPERATIONS + " objects.");
    }
    if (operations.stream().anyMatch(Objects::isNull)) {
      throw ProblemException.invalid("operations", "operations must have no null.");
    }
    if (!operations.stream()
        .allMatch(each -> OrderMessage.REQUEST_ID.matcher(each.requestId()).matches())) {
      throw ProblemException.invalid("requestId", "requestId must match [A-Za-z0-9_-]{8,64}.");
    }
  }

  /** The outcomes, in the order of the operations. */
  public record WalletOutcomes(List<WalletOutcome> outcomes) {

    public WalletOutcomes {
      outcomes = List.copyOf(outcomes);
    }
  }
}
