package io.seckill.support.contract;

import io.seckill.common.order.OrderMessage;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.RequestChecks;
import java.util.List;

/** Operations on wallets, executed in this order for each user. An invalid one refuses them all. */
public record WalletOperations(List<WalletOperation> operations) {

  private static final int MAX_OPERATIONS = 512;

  public WalletOperations {
    RequestChecks.list("operations", operations, MAX_OPERATIONS);
    if (!operations.stream()
        .allMatch(each -> OrderMessage.REQUEST_ID.matcher(each.requestId()).matches())) {
      throw ProblemException.invalid("requestId", "requestId must match [A-Za-z0-9_-]{8,64}.");
    }
  }

  public record WalletOutcomes(List<WalletOutcome> outcomes) {

    public WalletOutcomes {
      outcomes = List.copyOf(outcomes);
    }
  }
}
