package io.seckill.consumer.fallback;

import io.seckill.common.sale.FallbackMode;
import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.fallback.FallbackSales.InFallback;
import io.seckill.consumer.fallback.FallbackTable.Row;
import io.seckill.consumer.fallback.GatewayTable.Overview;
import io.seckill.consumer.runtime.Sweeper;
import io.seckill.support.web.AuditLog;
import io.seckill.support.web.Operator;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;

/**
 * Begins and ends the fallback, by itself or for operators. Each change of the state locks the row
 * of {@code fallback} and checks the state again, so any number of processes may do this at once.
 * {@link #tick} is for one thread.
 */
@Component
class FallbackControl {

  /** In place of an operator's name. */
  static final String AUTOMATIC = "automatic";

  private static final Logger log = LoggerFactory.getLogger(FallbackControl.class);

  /** Purchases are refused until the next step. */
  static final Duration STEPS = Duration.ofMillis(250);

  /** No fallback can begin here; another process may begin one, which this one then shows. */
  private static final Duration LOOKS_WITHOUT_FALLBACK = Duration.ofSeconds(1);

  private final FallbackMode mode;
  private final FallbackTable table;
  private final FallbackSales sales;
  private final GatewayTable gateways;
  private final SaleObservations looks;
  private final TransactionOperations transactions;
  private final FallbackMeters meters;
  private final AuditLog audit;
  private final FallbackActivation activation;
  private final StoppedReturns stopped;
  private volatile SalePhase last = SalePhase.ENTERING;
  private boolean isPrevented;
  private String lastHindrance = "";

  FallbackControl(
      FallbackProperties settings,
      FallbackTable table,
      FallbackSales sales,
      GatewayTable gateways,
      SaleObservations looks,
      FallbackDatabase mysql,
      FallbackMeters meters,
      AuditLog audit) {
    this.mode = settings.fallback();
    this.table = table;
    this.sales = sales;
    this.gateways = gateways;
    this.looks = looks;
    this.transactions = mysql.transactions();
    this.meters = meters;
    this.audit = audit;
    this.activation = new FallbackActivation(table, sales, gateways, looks, mysql);
    this.stopped = new StoppedReturns(sales, System::nanoTime);
  }

  @Bean
  Sweeper fallbackControlSweeper() {
    return new Sweeper("fallback", this::pause, this::tick);
  }

  private Duration pause() {
    return mode.isOn() || !last.redisDecides() ? STEPS : LOOKS_WITHOUT_FALLBACK;
  }

  /** Whether sales were to return to Redis when this process last read or changed the state. */
  boolean isReturning() {
    return last == SalePhase.RETURNING;
  }

  void tick() {
    Overview now = gateways.overview();
    boolean rests = false;
    switch (now.fallback().state()) {
      case REDIS -> rests = !enterByItself(now.gateways(), SalePhase.REDIS);
      case ENTERING -> activate(now);
      case MYSQL -> {
        activation.reduceReserves(now);
        if (!enterByItself(now.gateways(), SalePhase.MYSQL)) {
          leaveByItself(now);
        }
      }
      case RETURNING -> {
        activation.reduceReserves(now);
        enterByItself(now.gateways(), SalePhase.RETURNING);
        stopped.resume();
      }
      case STRONG, LOADING, SHARDED ->
          throw new IllegalStateException("a fallback is in no such state");
    }
    last = rests ? SalePhase.REDIS : table.read().state();
    meters.show(last, last.redisDecides() ? List.of() : sales.all());
  }

  /**
   * Also while sales return, from a fallback that an operator began, too: those that have returned
   * are stopped again, under another term; and while MySQL decides, if Redis decides a sale.
   * Returns whether the state may have changed.
   */
  private boolean enterByItself(Gateways nodes, SalePhase from) {
    boolean begins =
        mode == FallbackMode.AUTOMATIC
            && (from != SalePhase.MYSQL || sales.countOfRedis() > 0)
            && mustBegin(nodes);
    if (begins) {
      begin(AUTOMATIC, from);
    }
    return begins;
  }

  /** Whether gateways have lost Redis, and none is without fallback. */
  private boolean mustBegin(Gateways nodes) {
    boolean isLost = nodes.haveLostRedis();
    Optional<GatewayNode> off = isLost ? nodes.withoutFallback() : Optional.empty();
    if (off.isPresent() && !isPrevented) {
      log.error("no fallback: the gateway {} has seckill.fallback=off", off.get().name());
    }
    isPrevented = off.isPresent();
    return isLost && off.isEmpty();
  }

  /**
   * Begins a fallback, also while sales return from one: those that Redis cannot take are not left
   * between the two. While MySQL decides, it begins again for sales that were over, and have been
   * extended since.
   *
   * @throws ProblemException 409 REFUSED when it is switched off, also in a gateway, or has begun
   */
  void enter(Operator operator) {
    if (!mode.isOn()) {
      throw refused("seckill.fallback is off.");
    }
    Gateways nodes = gateways.overview().gateways();
    if (nodes.withoutFallback().isPresent()) {
      throw refused(
          "The gateway " + nodes.withoutFallback().get().name() + " has seckill.fallback=off.");
    }
    if (!begin(operator.name(), SalePhase.REDIS, SalePhase.MYSQL, SalePhase.RETURNING)) {
      throw refused("The fallback has begun already.");
    }
  }

  /**
   * Raises the term and stops all sales that Redis decides; those that MySQL had not returned yet
   * are sold by MySQL at once. While MySQL decides, the fallback ends as it was to end before.
   *
   * @param from the states in which it may begin
   * @return false when the state is another one, or MySQL decides all sales
   */
  private boolean begin(String startedBy, SalePhase... from) {
    boolean begun =
        transactions.execute(
            tx -> {
              Row row = table.lock();
              if (!Arrays.asList(from).contains(row.state())) {
                return false;
              }
              sales.resume();
              int stopped = sales.enter();
              boolean isAgain = row.isIn(SalePhase.MYSQL);
              if (isAgain && stopped == 0) {
                return false;
              }
              // the time of it is after the wait for locks
              long term = table.enter(isAgain ? row.startedBy() : startedBy);
              log.warn("fallback {} begins, {} sales stop: {}", term, stopped, startedBy);
              return true;
            });
    if (begun) {
      meters.entered();
      byItself(startedBy, "fallback-enter");
    }
    return begun;
  }

  /** Operators' calls are audited where they arrive. */
  private void byItself(String startedBy, String action) {
    if (startedBy.equals(AUTOMATIC)) {
      audit.record(new Operator(AUTOMATIC), action, "term=" + table.read().term(), "state=begun");
    }
  }

  /** Lets MySQL decide, when it does so for every sale. */
  private void activate(Overview seen) {
    long term = seen.fallback().term();
    if (activation.activate(seen) && moveIf(row -> activation.isDone(row, term), SalePhase.MYSQL)) {
      List<InFallback> all = sales.all();
      long reserved = all.stream().mapToLong(InFallback::reservedUnits).sum();
      log.warn(
          "fallback {}: MySQL decides {} sales, {} units reserved", term, all.size(), reserved);
    }
  }

  private void leaveByItself(Overview seen) {
    if (mode != FallbackMode.AUTOMATIC
        || !AUTOMATIC.equals(seen.fallback().startedBy())
        || !seen.gateways().allUseRedisAgain()) {
      return;
    }
    String hindrance = hindrance(seen);
    if (!hindrance.isEmpty()) {
      String line = "fallback %d: MySQL sells on: %s".formatted(seen.fallback().term(), hindrance);
      if (!line.equals(lastHindrance)) {
        log.warn("{}", line);
      }
      lastHindrance = line;
    } else if (turnBack()) {
      byItself(AUTOMATIC, "fallback-leave");
    }
  }

  /**
   * Begins to give the sales back to Redis; {@link FallbackReturn} does it.
   *
   * @throws ProblemException 409 REFUSED when MySQL does not decide, Redis is not usable, or a
   *     gateway has not transferred its promises
   */
  void leave() {
    String hindrance = hindrance(gateways.overview());
    if (!hindrance.isEmpty()) {
      throw refused(hindrance);
    }
    if (!turnBack()) {
      throw refused("The state has changed meanwhile.");
    }
  }

  /** Why sales cannot return yet, "" when they can. */
  private String hindrance(Overview seen) {
    Row row = seen.fallback();
    if (!row.isIn(SalePhase.MYSQL)) {
      return "MySQL does not decide now: the state is " + row.state() + ".";
    }
    String ofGateways = seen.gateways().hindranceToReturn(row.term());
    boolean isReached = !mode.isOn() || looks.isRedisReached();
    return ofGateways.isEmpty() && !isReached ? "order-consumer does not reach Redis." : ofGateways;
  }

  private boolean turnBack() {
    boolean done = moveIf(row -> hindrance(gateways.overview()).isEmpty(), SalePhase.RETURNING);
    if (done) {
      last = SalePhase.RETURNING;
    }
    return done;
  }

  /** Ends the fallback when no sale is left in it. */
  void end() {
    if (moveIf(row -> row.isIn(SalePhase.RETURNING) && sales.all().isEmpty(), SalePhase.REDIS)) {
      meters.left();
      Row row = table.read();
      audit.record(
          new Operator(AUTOMATIC), "fallback-end", "term=" + row.term(), "state=" + row.state());
    }
  }

  /** Returns whether the locked row was so, and the state is now this one. */
  private boolean moveIf(Predicate<Row> condition, SalePhase state) {
    return transactions.execute(
        tx -> {
          boolean moves = condition.test(table.lock());
          if (moves) {
            table.move(state);
          }
          return moves;
        });
  }

  private static ProblemException refused(String detail) {
    return ProblemException.of(ProblemCode.REFUSED, detail);
  }
}
