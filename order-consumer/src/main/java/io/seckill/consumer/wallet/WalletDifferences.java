package io.seckill.consumer.wallet;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * What a check of the wallets has found: all is counted, and the first {@value #MOST_KEPT}
 * differences are described, so memory and log do not grow with the damage. For one thread.
 */
final class WalletDifferences {

  static final int MOST_KEPT = 10_000;

  private final List<String> kept = new ArrayList<>();
  private final Set<Long> users = new TreeSet<>();
  private int count;

  void add(long userId, String difference) {
    users.add(userId);
    add("user " + userId + ": " + difference);
  }

  /** A difference that is not of one user's wallet. */
  void add(String difference) {
    count++;
    if (kept.size() < MOST_KEPT) {
      kept.add(difference);
    }
  }

  int count() {
    return count;
  }

  /** Those whose wallets differ. */
  Set<Long> users() {
    return Collections.unmodifiableSet(users);
  }

  List<String> kept() {
    return Collections.unmodifiableList(kept);
  }
}
