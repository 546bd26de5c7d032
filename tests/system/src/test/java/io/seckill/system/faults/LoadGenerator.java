package io.seckill.system.faults;

import static org.awaitility.Awaitility.await;

import io.seckill.common.order.OrderId;
import io.seckill.system.guarantee.Purchases;
import io.seckill.system.shop.Answer;
import io.seckill.system.shop.ShopClient;
import java.time.Duration;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.Supplier;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Simulates shoppers who arrive at a constant rate, each at one of the gateways, and retry with the
 * same key at the next gateway until they are accepted or refused. After all planned shoppers,
 * latecomers arrive until {@link #lastCall}, so that there is still traffic during a long fault.
 */
public final class LoadGenerator implements AutoCloseable {

  /** Final refusals; every other answer except a yes is retried. */
  private static final Set<String> REFUSALS = Set.of("SOLD_OUT", "TOO_FEW_LEFT", "QUOTA_EXCEEDED");

  /** Most latecomers that arrive after the planned shoppers: for ten minutes, as long as a test. */
  static final int MOST_LATECOMERS = 12_000;

  private static final Duration PACE = Duration.ofMillis(10);
  private static final int TICKS_PER_LATECOMER = 5;
  private static final int MOST_UNDECIDED = 200;

  private static final int CREATED = 201;

  /** The promised time within which a gateway answers. */
  private static final long PROMISED_MS = 300;

  private static final long LONGEST_MS = 60_000;
  private static final long FIRST_PAUSE_MS = 50;

  /** Of the pause between two tries of a purchase, up to 1.6 s. */
  private static final int DOUBLINGS = 5;

  /**
   * Up to 6.4 s: a thousand shoppers want to pay while no order is stored, and would take the
   * processors from the server whose start they wait for.
   */
  private static final int DOUBLINGS_OF_AN_ERRAND = 7;

  private final List<ShopClient> gateways;
  private final Purchases purchases;
  private final int planned;
  private final Iterator<PlannedPurchase> plan;
  private final Set<Integer> yes;
  private final int perTick;
  private int ticks; // since the planned shoppers arrived; for the clock's thread
  private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
  private final AtomicInteger undecided = new AtomicInteger();
  private final AtomicInteger arrived = new AtomicInteger();
  private final AtomicInteger accepted = new AtomicInteger();
  private final AtomicInteger queued = new AtomicInteger();
  private final AtomicInteger confirmed = new AtomicInteger();
  private final AtomicInteger refused = new AtomicInteger();
  private final AtomicInteger errands = new AtomicInteger();
  private final AtomicInteger unanswered = new AtomicInteger();
  private final AtomicInteger foundAgain = new AtomicInteger();
  private final AtomicIntegerArray acceptedAt;
  private final Histogram answersMs = new ConcurrentHistogram(LONGEST_MS, 2);
  private final Map<String, AtomicInteger> problems = new ConcurrentHashMap<>();
  private final Set<Object> underWay = ConcurrentHashMap.newKeySet();
  private volatile boolean lastCalled;
  private volatile boolean lossExpected;
  private volatile boolean closed;

  /**
   * @param plan purchases of the planned shoppers, then of latecomers
   * @param planned number of planned shoppers, who arrive in any case
   * @param over time in which these arrive; longer when too many purchases are undecided
   * @param yes HTTP statuses of accepted purchases: 202 of Redis, 201 of MySQL
   */
  LoadGenerator(
      List<ShopClient> gateways,
      Purchases purchases,
      List<PlannedPurchase> plan,
      int planned,
      Duration over,
      Set<Integer> yes) {
    this.yes = yes;
    this.gateways = List.copyOf(gateways);
    this.acceptedAt = new AtomicIntegerArray(gateways.size());
    this.purchases = purchases;
    this.planned = planned;
    this.plan = List.copyOf(plan).iterator();
    this.perTick = (int) Math.max(1, planned * PACE.toMillis() / Math.max(1, over.toMillis()));
  }

  void start() {
    var unused = clock.scheduleAtFixedRate(this::arrive, 0, PACE.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void arrive() {
    for (int i = 0; i < nextAtOnce() && plan.hasNext(); i++) {
      undecided.incrementAndGet();
      PlannedPurchase purchase = plan.next();
      purchases.attempt(purchase.skuId(), purchase.userId(), purchase.key(), purchase.quantity());
      buy(purchase, arrived.getAndIncrement(), 0, true);
    }
  }

  private int nextAtOnce() {
    if (undecided.get() >= MOST_UNDECIDED) {
      return 0;
    }
    if (arrived.get() < planned) {
      return perTick;
    }
    boolean latecomerIsDue = ticks++ % TICKS_PER_LATECOMER == 0;
    return latecomerIsDue && !lastCalled ? 1 : 0;
  }

  /**
   * @param certain whether every earlier attempt was answered that nothing was taken
   */
  private void buy(PlannedPurchase purchase, int gateway, int tries, boolean certain) {
    long start = System.nanoTime();
    long sentAtMs = System.currentTimeMillis();
    Object attempt = new Object();
    underWay.add(attempt);
    var unused =
        send(gateway, purchase, purchase.quantity())
            .whenComplete(
                (answer, failure) -> {
                  if (answer == null) {
                    unanswered.incrementAndGet();
                  } else {
                    answered(gateway, answer, System.nanoTime() - start);
                    if (!certain && isFoundAgain(answer, sentAtMs)) {
                      foundAgain.incrementAndGet();
                    }
                  }
                  if (!decided(purchase, answer, sentAtMs, certain)) {
                    boolean tookNothing = answer != null && answer.code().equals("BUSY");
                    later(Math.min(tries, DOUBLINGS))
                        .execute(
                            () -> buy(purchase, gateway + 1, tries + 1, certain && tookNothing));
                  }
                })
            .whenComplete((answer, failure) -> underWay.remove(attempt));
  }

  private CompletableFuture<Answer> send(int gateway, PlannedPurchase purchase, int quantity) {
    return at(gateway).buyAsync(purchase.userId(), purchase.skuId(), quantity, purchase.key());
  }

  private ShopClient at(int gateway) {
    return gateways.get(gateway % gateways.size());
  }

  /** Whether the order existed before this attempt was sent. */
  private boolean isFoundAgain(Answer answer, long sentAtMs) {
    return yes.contains(answer.status())
        && OrderId.parse(answer.text("orderId")).timeMs() < sentAtMs;
  }

  private void answered(int gateway, Answer answer, long nanos) {
    answersMs.recordValue(Math.min(LONGEST_MS, TimeUnit.NANOSECONDS.toMillis(nanos)));
    if (yes.contains(answer.status())) {
      count(answer);
      acceptedAt.incrementAndGet(gateway % gateways.size());
    } else {
      problems.computeIfAbsent(answer.code(), code -> new AtomicInteger()).incrementAndGet();
    }
  }

  /** A 201 may repeat an order that Redis has admitted. */
  private void count(Answer answer) {
    if (answer.status() != CREATED) {
      queued.incrementAndGet();
    } else if (OrderId.parse(answer.text("orderId")).isDecidedByMySql()) {
      confirmed.incrementAndGet();
    }
  }

  private boolean decided(
      PlannedPurchase purchase, @Nullable Answer answer, long sentAtMs, boolean certain) {
    if (closed) {
      return true;
    }
    if (answer != null && yes.contains(answer.status())) {
      if (answer.text("status").equals("REJECTED")) {
        rejected(purchase, certain);
      } else {
        accept(purchase, answer.text("orderId"));
      }
      undecided.decrementAndGet();
      return true;
    }
    if (answer != null && REFUSALS.contains(answer.code())) {
      refused.incrementAndGet();
      purchases.refused(
          purchase.skuId(),
          purchase.userId(),
          purchase.key(),
          answer.code(),
          sentAtMs,
          System.currentTimeMillis());
      if (certain) {
        purchases.certainlyRefused(purchase.skuId(), purchase.userId(), purchase.key());
      }
      undecided.decrementAndGet();
      return true;
    }
    if (answer != null && answer.status() != 503) {
      purchases.contradiction(purchase + " was answered " + answer.status() + " " + answer.code());
    }
    return false;
  }

  /**
   * An earlier try had an unknown outcome, so nothing was promised: Redis had admitted it, and
   * MySQL had no unit for it any more.
   */
  private void rejected(PlannedPurchase purchase, boolean certain) {
    refused.incrementAndGet();
    if (certain) {
      purchases.contradiction(purchase + " was rejected, and no earlier try can have taken a unit");
    }
  }

  private void accept(PlannedPurchase purchase, String orderId) {
    accepted.incrementAndGet();
    promised(purchase, orderId);
    switch (purchase.after()) {
      case NOTHING -> {}
      case REPEAT -> errand(tries -> repeat(purchase, tries));
      case OTHER_QUANTITY -> errand(tries -> otherQuantity(purchase, tries));
      case PAY -> errand(tries -> end(purchase, orderId, "PAID", tries));
      case CANCEL -> errand(tries -> end(purchase, orderId, "CANCELLED", tries));
    }
  }

  private void promised(PlannedPurchase purchase, String orderId) {
    purchases.accepted(purchase.skuId(), purchase.userId(), purchase.key(), orderId);
  }

  /** One attempt of a follow-up to a purchase; returns true when there is nothing more to do. */
  @FunctionalInterface
  private interface Errand {
    CompletableFuture<Boolean> run(int tries);
  }

  private void errand(Errand errand) {
    errands.incrementAndGet();
    run(errand, 0);
  }

  private void run(Errand errand, int tries) {
    var unused =
        errand
            .run(tries)
            .whenComplete(
                (done, failure) -> {
                  if (closed || Boolean.TRUE.equals(done)) {
                    errands.decrementAndGet();
                  } else {
                    later(Math.min(tries + 1, DOUBLINGS_OF_AN_ERRAND))
                        .execute(() -> run(errand, tries + 1));
                  }
                });
  }

  private CompletableFuture<Boolean> repeat(PlannedPurchase purchase, int tries) {
    return send(tries, purchase, purchase.quantity())
        .thenApply(
            answer -> {
              if (yes.contains(answer.status())) {
                promised(purchase, answer.text("orderId"));
              } else if (answer.status() != 503) {
                purchases.contradiction(
                    "the repeat of " + purchase + " was answered " + answer.code());
              }
              return answer.status() != 503;
            });
  }

  private CompletableFuture<Boolean> otherQuantity(PlannedPurchase purchase, int tries) {
    if (lossExpected) {
      return CompletableFuture.completedFuture(true); // a Redis that lost the key may admit it
    }
    return send(tries, purchase, purchase.quantity() + 1)
        .thenApply(
            answer -> {
              if (answer.status() != 503 && !answer.code().equals("IDEMPOTENCY_KEY_REUSED")) {
                purchases.contradiction(
                    purchase + " with another quantity was answered " + answer.status());
              }
              return answer.status() != 503;
            });
  }

  /** Pays or cancels; reads the order when the answer is not 200. */
  private CompletableFuture<Boolean> end(
      PlannedPurchase purchase, String orderId, String wanted, int tries) {
    ShopClient gateway = at(tries);
    long user = purchase.userId();
    Supplier<CompletableFuture<Answer>> act =
        wanted.equals("PAID")
            ? () -> gateway.payAsync(user, orderId)
            : () -> gateway.cancelAsync(user, orderId);
    return act.get()
        .thenCompose(
            answer ->
                answer.status() == 200
                    ? CompletableFuture.completedFuture(answer)
                    : gateway.orderAsync(user, orderId))
        .thenApply(
            answer -> {
              String status = answer.status() == 200 ? answer.text("status") : "";
              boolean lost = lossExpected && answer.status() == 404;
              if (status.equals(wanted)) {
                purchases.ended(orderId, wanted);
              } else if (lost) {
                purchases.unansweredEnd(orderId, wanted); // an attempt may still be in progress
              }
              return status.equals(wanted) || status.equals("REJECTED") || lost;
            });
  }

  private static Executor later(int doublings) {
    return CompletableFuture.delayedExecutor(FIRST_PAUSE_MS << doublings, TimeUnit.MILLISECONDS);
  }

  /** Stops the arrival of latecomers; only planned shoppers still arrive. */
  public void lastCall() {
    lastCalled = true;
  }

  /**
   * From now on accepted orders may be lost. A shopper who wants to pay for or cancel a lost order
   * gives up, and no key is sent with another quantity any more.
   */
  public void expectLoss() {
    lossExpected = true;
  }

  /** Purchases begun so far. */
  public int arrived() {
    return arrived.get();
  }

  public int accepted() {
    return accepted.get();
  }

  /** Purchases accepted by Redis so far. */
  int queued() {
    return queued.get();
  }

  /** Purchases accepted by MySQL so far, while their shoppers waited. */
  int confirmed() {
    return confirmed.get();
  }

  /** Requests that got no answer: disconnected, or timed out. */
  int unanswered() {
    return unanswered.get();
  }

  /** Answers of a problem code so far. */
  public int problems(String code) {
    AtomicInteger count = problems.get(code);
    return count == null ? 0 : count.get();
  }

  /**
   * Number of retries, after an unanswered attempt, that were answered with an order admitted
   * before the retry was sent.
   */
  int foundAgain() {
    return foundAgain.get();
  }

  /** Number of purchases that a gateway has accepted, repeats not counted. */
  public int acceptedAt(int gateway) {
    return acceptedAt.get(gateway);
  }

  FaultReport.Answers answers() {
    Histogram all = answersMs.copy();
    return new FaultReport.Answers(
        unanswered(),
        Math.round(10 * all.getPercentileAtOrBelowValue(PROMISED_MS)) / 10.0,
        all.getValueAtPercentile(50),
        all.getValueAtPercentile(99),
        all.getMaxValue());
  }

  /** Whether no more shoppers arrive and every purchase is decided. */
  public boolean isServed() {
    return lastCalled && arrived.get() >= planned && undecided.get() == 0;
  }

  /** Whether all are served and nothing is left to repeat, pay or cancel. */
  public boolean isDone() {
    return isServed() && errands.get() == 0;
  }

  public void awaitAccepted(int purchases) {
    await(purchases + " accepted purchases")
        .atMost(Duration.ofMinutes(2))
        .pollInterval(Duration.ofMillis(5))
        .until(() -> accepted() >= purchases);
  }

  /** Waits until every purchase sent before now is answered, or its connection has ended. */
  void awaitAnswers() {
    Set<Object> sent = Set.copyOf(underWay);
    await("answers to " + sent.size() + " purchases")
        .atMost(Duration.ofMinutes(2))
        .pollInterval(Duration.ofMillis(5))
        .until(() -> Collections.disjoint(sent, underWay));
  }

  public void awaitProblems(String code, int answers) {
    await(answers + " answers " + code)
        .atMost(Duration.ofMinutes(2))
        .pollInterval(Duration.ofMillis(5))
        .until(() -> problems(code) >= answers);
  }

  @Override
  public String toString() {
    return "%d arrived, %d accepted, %d refused, %d undecided, %d errands, %d without answer, %s"
        .formatted(
            arrived(),
            accepted(),
            refused.get(),
            undecided.get(),
            errands.get(),
            unanswered(),
            problems);
  }

  @Override
  public void close() {
    closed = true;
    clock.shutdownNow();
  }
}
