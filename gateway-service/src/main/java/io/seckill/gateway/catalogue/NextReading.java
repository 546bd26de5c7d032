package io.seckill.gateway.catalogue;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The next read of the products, and the requests that wait for it. Thread-safe. */
final class NextReading {

  /**
   * Most requests for SKUs that wait for one read, and most of the others: one that hangs would
   * keep something of each. A read takes milliseconds, so this allows for thousands of unknown SKUs
   * a second. Shoppers who invent SKUs take no place of an operator.
   */
  static final int MOST_WAITING = 1_000;

  private CompletableFuture<ProductReading> next = new CompletableFuture<>(); // guarded by this
  private boolean isWanted; // guarded by this
  private int waiting; // guarded by this: requests that were given next, for SKUs
  private int waitingForAny; // guarded by this: the others
  private Set<Long> wanted = new HashSet<>(); // guarded by this: SKUs to look for in the next

  /** A read that callers wait for, and the SKUs to look for in it. */
  record Asked(CompletableFuture<ProductReading> reading, Set<Long> skus) {}

  /**
   * Returns the result of a read that begins after this call, and looks for these SKUs, too; null
   * when too many wait for it.
   *
   * @param skus may be empty
   */
  synchronized @Nullable CompletableFuture<ProductReading> await(Set<Long> skus) {
    if ((skus.isEmpty() ? waitingForAny : waiting) == MOST_WAITING) {
      return null;
    }
    if (skus.isEmpty()) {
      waitingForAny++;
    } else {
      waiting++;
    }
    wanted.addAll(skus);
    return next;
  }

  /** Runs this once for each read, to begin it early. */
  synchronized void want(Runnable beginSoon) {
    if (!isWanted) {
      beginSoon.run();
      isWanted = true;
    }
  }

  /** Whether the next read is to begin early. */
  synchronized boolean isWanted() {
    return isWanted;
  }

  /** Begins the read: callers from now on wait for another one. */
  synchronized Asked begin() {
    Asked asked = new Asked(next, wanted);
    next = new CompletableFuture<>();
    wanted = new HashSet<>();
    isWanted = false;
    waiting = 0;
    waitingForAny = 0;
    return asked;
  }
}
