package io.seckill.support.contract;

import java.util.List;

/** The outcomes, in the order of the operations. */
public record WalletOutcomes(List<WalletOutcome> outcomes) {

  public WalletOutcomes {
    outcomes = List.copyOf(outcomes);
  }
}
