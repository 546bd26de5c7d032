package io.seckill.gateway.admission;

import io.seckill.common.order.Partition;
import io.seckill.common.sale.Shards;
import io.seckill.gateway.admission.Admission.Busy;
import io.seckill.gateway.admission.Purchase.TimedAnswer;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.batching.RequestBatcher;
import io.seckill.gateway.catalogue.ProductCache;
import io.seckill.gateway.shards.ShardLines;
import io.seckill.gateway.shards.WaitingPurchase;
import io.seckill.gateway.shards.WaitingPurchase.Outcome;
import io.seckill.gateway.shards.WaitingPurchase.Waiter;
import io.seckill.gateway.verification.VerifiedServers;
import io.seckill.support.contract.ProductRow;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.stereotype.Component;

/**
 * Purchases of SKUs that have shards. The shopper's shard decides, as if it were a SKU. When it
 * refuses a purchase for lack of units, that is no answer yet: the purchase waits in {@link
 * ShardLines}, and is sent again when the shard has received units, until the lack is proven for
 * all shards. Never blocks.
 */
@Component
record ShardedPurchases(
    ProductCache products,
    ShardLines lines,
    SoldOutShield shield,
    VerifiedServers servers,
    RedisBreaker breaker,
    @Qualifier("admitQueue") RequestBatcher<Purchase> admit) {

  /** Returns the attempt at the shopper's shard; the same attempt when the SKU has no shards. */
  PurchaseAttempt inShard(PurchaseAttempt attempt) {
    int shards = products.shards(attempt.skuId());
    return shards == 1
        ? attempt
        : attempt.at(Shards.purchased(attempt.skuId(), attempt.userId(), shards));
  }

  /**
   * Returns what receives the outcomes of an attempt at a shard, and passes its last one on; the
   * answer itself when the attempt is not at a shard.
   *
   * @param answer called once, within 300 ms of the first outcome and the time of one more call
   */
  Consumer<Admission> untilProven(PurchaseAttempt attempt, Consumer<Admission> answer) {
    return Shards.isShard(attempt.skuId()) ? new Outcomes(attempt, answer) : answer;
  }

  /**
   * The same for outcomes of MySQL, which decides a shard during a fallback: no shard gives units
   * then, so a purchase does not wait.
   */
  Consumer<Admission> whileUnitsAreLeft(PurchaseAttempt attempt, Consumer<Admission> answer) {
    return Shards.isShard(attempt.skuId())
        ? outcome ->
            answer.accept(
                inMySql(
                    outcome, attempt.quantity(), products.freshlyRead(Shards.sku(attempt.skuId()))))
        : answer;
  }

  /** {@code sku} has the units of all shards; null if it was not read in the last two seconds. */
  static Admission inMySql(Admission outcome, int quantity, @Nullable ProductRow sku) {
    boolean mayBeLeft = sku == null || sku.stock() >= quantity;
    if (isShort(outcome) && mayBeLeft) {
      return Busy.BRIEFLY;
    }
    if (outcome == Refusal.SOLD_OUT && sku != null && sku.stock() > 0) {
      return Refusal.TOO_FEW_LEFT;
    }
    boolean isSoldOut = sku != null && sku.stock() == 0;
    return outcome == Refusal.QUOTA_EXCEEDED && isSoldOut ? Refusal.SOLD_OUT : outcome;
  }

  private static boolean isShort(Admission outcome) {
    return outcome == Refusal.SOLD_OUT || outcome == Refusal.TOO_FEW_LEFT;
  }

  /**
   * The outcomes of one attempt, one after the other. An earlier attempt with the same key may have
   * been admitted while this one waited, or after its shard had refused it: when no unit is left,
   * the shard is asked once more, and answers from the order if there is one.
   */
  private final class Outcomes implements TimedAnswer, Waiter {
    private final PurchaseAttempt attempt;
    private final Consumer<Admission> answer;
    private long lastAskedNanos = System.nanoTime();
    private @Nullable WaitingPurchase waiting;
    private @Nullable Refusal proven;

    Outcomes(PurchaseAttempt attempt, Consumer<Admission> answer) {
      this.attempt = attempt;
      this.answer = answer;
    }

    @Override
    public void asked(long nanos) {
      lastAskedNanos = nanos;
    }

    /** One that has waited waits on: its wait bounds the time of its calls. */
    @Override
    public void accept(Admission outcome) {
      if (!isShort(outcome)) {
        answer.accept(outcome);
      } else if (proven != null) {
        answer.accept(proven);
      } else if (outcome == Refusal.SOLD_OUT && isProven()) {
        answer.accept(outcome);
      } else if (outcome == Refusal.SOLD_OUT && waiting == null && shield.covers(attempt.skuId())) {
        refuse(Refusal.SOLD_OUT);
      } else {
        await();
      }
    }

    /** Whether no unit was left when the shard looked for an earlier attempt with the key. */
    private boolean isProven() {
      return attempt.keyFromShopper()
          ? shield.coversSince(attempt.skuId(), lastAskedNanos)
          : shield.covers(attempt.skuId());
    }

    private void await() {
      if (waiting == null) {
        waiting = new WaitingPurchase(attempt.skuId(), attempt.quantity(), System.nanoTime(), this);
      }
      lines.await(waiting);
    }

    @Override
    public void ended(Outcome outcome, long askedNanos) {
      switch (outcome) {
        case SEND_AGAIN -> admit.submit(new Purchase(attempt, this));
        case SOLD_OUT -> {
          shield.raise(attempt.skuId(), askedNanos);
          refuse(Refusal.SOLD_OUT);
        }
        case TOO_FEW_LEFT -> refuse(Refusal.TOO_FEW_LEFT);
        case BUSY -> {
          long sku = Shards.sku(attempt.skuId());
          List<Long> shards = Shards.ids(sku, products.shards(sku));
          answer.accept(busy(shards, servers, breaker::isOpen));
        }
      }
    }

    /** A gateway's own key cannot be that of an earlier attempt. */
    private void refuse(Refusal reason) {
      if (attempt.keyFromShopper()) {
        proven = reason;
        admit.submit(new Purchase(attempt, this));
      } else {
        answer.accept(reason);
      }
    }
  }

  /** {@code isOpen}: the breaker of a partition is open. */
  static Busy busy(List<Long> shards, VerifiedServers servers, IntPredicate isOpen) {
    boolean allReachable =
        shards.stream()
            .allMatch(
                shard ->
                    servers.replicationId(Partition.ofSku(shard)) != null
                        && !servers.isQuarantined(shard)
                        && !isOpen.test(Partition.ofSku(shard)));
    return allReachable ? Busy.BRIEFLY : Busy.WITHOUT_A_SHARD;
  }
}
