package io.seckill.consumer.wallet;

import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.consumer.runtime.CallerBatcher;
import io.seckill.consumer.runtime.ConnectionShare;
import io.seckill.consumer.runtime.Sql;
import io.seckill.consumer.runtime.SqlFailure;
import io.seckill.consumer.storage.Transactions;
import io.seckill.support.contract.WalletOperation;
import io.seckill.support.contract.WalletOutcome;
import io.seckill.support.contract.WalletOutcome.WalletCode;
import io.seckill.support.web.ProblemException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Executes operations on wallets, many in one transaction. Each user has one of four batchers, so
 * batches of this process never wait for one another's locks. Operations on a wallet that another
 * transaction has locked wait for it in a batch of their own, on a connection of those for such
 * waits. Thread-safe.
 */
@Component
public final class Wallets {

  private static final Logger log = LoggerFactory.getLogger(Wallets.class);

  private static final int BATCHERS = 4;

  /** Most calls that wait for a batcher; further ones are BUSY. */
  private static final int MAX_WAITING = 512;

  /** Most operations of a transaction. */
  private static final int MAX_BATCH = 512;

  private static final int RETRIES = 3;

  private final Transactions transactions;
  private final List<CallerBatcher<List<PendingOperation>, Boolean>> batchers;
  private final List<CallerBatcher<List<PendingOperation>, Boolean>> lockWaits;
  private final ConnectionShare connections;
  private final WalletMeters meters;

  Wallets(DataSource pool, ConnectionShare lockWaits, MeterRegistry registry) {
    this.transactions = Transactions.once(pool);
    this.connections = lockWaits;
    this.batchers = batchers(false);
    this.lockWaits = batchers(true);
    this.meters = new WalletMeters(registry);
  }

  private List<CallerBatcher<List<PendingOperation>, Boolean>> batchers(boolean wait) {
    return Stream.generate(
            () ->
                new CallerBatcher<List<PendingOperation>, Boolean>(
                    MAX_WAITING, calls -> execute(calls, wait)))
        .limit(BATCHERS)
        .toList();
  }

  /** An operation of a call; equal ones of two calls are executed twice. */
  private static final class PendingOperation {
    private final WalletOperation operation;
    private WalletOutcome outcome = WalletOutcome.of(WalletCode.BUSY);

    PendingOperation(WalletOperation operation) {
      this.operation = operation;
    }

    long userId() {
      return operation.userId();
    }

    boolean isBusy() {
      return outcome.code() == WalletCode.BUSY;
    }
  }

  /** The outcome of one operation, after COMMIT. */
  public WalletOutcome execute(WalletOperation operation) {
    return execute(List.of(operation)).get(0);
  }

  /**
   * @return after COMMIT, an outcome for each, in their order
   */
  public List<WalletOutcome> execute(List<WalletOperation> operations) {
    long start = System.nanoTime();
    List<PendingOperation> all = operations.stream().map(PendingOperation::new).toList();
    for (int i = 0; i < BATCHERS; i++) {
      int batcher = i;
      List<PendingOperation> own =
          all.stream().filter(each -> each.userId() % BATCHERS == batcher).toList();
      if (submit(batchers.get(batcher), own)) {
        var unused =
            submit(lockWaits.get(batcher), own.stream().filter(PendingOperation::isBusy).toList());
      }
    }
    List<WalletOutcome> outcomes = all.stream().map(each -> each.outcome).toList();
    meters.executed(outcomes, start);
    return outcomes;
  }

  /** Counts outcomes of an open transaction once they are committed. */
  void countAfterCommit(List<WalletOutcome> decided) {
    TransactionSynchronizationManager.registerSynchronization(
        new TransactionSynchronization() {
          @Override
          public void afterCommit() {
            decided.forEach(outcome -> meters.count(outcome.code()));
          }
        });
  }

  /**
   * Executes operations, and sets their outcomes.
   *
   * @return false when too many calls wait: nothing was done
   */
  private static boolean submit(
      CallerBatcher<List<PendingOperation>, Boolean> batcher, List<PendingOperation> operations) {
    try {
      return operations.isEmpty() || batcher.submit(operations);
    } catch (ProblemException e) {
      return false;
    }
  }

  private Map<List<PendingOperation>, Boolean> execute(
      Set<List<PendingOperation>> calls, boolean wait) {
    List<PendingOperation> operations = calls.stream().flatMap(List::stream).toList();
    WalletOutcome unavailable = WalletOutcome.of(WalletCode.WALLET_UNAVAILABLE);
    Map<Long, WalletOutcome> undone = new HashMap<>();
    Map<Long, List<PendingOperation>> apart = new LinkedHashMap<>();
    for (PendingOperation each : operations) { // a transaction that may wait has one user's
      apart.computeIfAbsent(wait ? each.userId() : 0, user -> new ArrayList<>()).add(each);
    }
    for (List<PendingOperation> all : apart.values()) {
      for (List<PendingOperation> chunk : Sql.chunks(all, MAX_BATCH)) {
        executeChunk(chunk, undone, wait);
        if (undone.containsValue(unavailable)) { // none is tried now
          operations.forEach(each -> undone.put(each.userId(), unavailable));
        }
      }
    }
    return calls.stream().collect(Collectors.toMap(Function.identity(), call -> true));
  }

  /**
   * An operation may depend on one of its user that was not done before it: it has the same
   * outcome, and is not executed.
   *
   * @param undone outcomes of these, by user; receives those of this chunk
   */
  private void executeChunk(
      List<PendingOperation> operations, Map<Long, WalletOutcome> undone, boolean wait) {
    List<PendingOperation> others = new ArrayList<>();
    for (PendingOperation each : operations) {
      WalletOutcome before = undone.get(each.userId());
      if (before == null) {
        others.add(each);
      } else {
        each.outcome = before;
      }
    }
    if (!others.isEmpty()) {
      decide(others, undone, wait, true);
    }
  }

  private void decide(
      List<PendingOperation> operations,
      Map<Long, WalletOutcome> undone,
      boolean wait,
      boolean makes) {
    List<WalletOperation> all = operations.stream().map(each -> each.operation).toList();
    try {
      List<WalletOutcome> outcomes =
          repeatedly(jdbc -> WalletTransactions.decide(jdbc, all, false, wait, makes), wait)
              .orElse(List.of());
      if (outcomes.isEmpty()) {
        halve(operations, undone, wait);
      }
      for (int i = 0; i < outcomes.size(); i++) {
        PendingOperation each = operations.get(i);
        each.outcome = outcomes.get(i);
        if (each.isBusy()) {
          undone.put(each.userId(), each.outcome);
        }
      }
    } catch (ProblemException e) {
      end(operations, WalletCode.BUSY, undone);
    } catch (DataAccessException | TransactionException e) {
      SqlFailure failure = SqlFailure.of(e);
      if (failure == SqlFailure.TRY_AGAIN && makes && !wait) {
        decide(operations, undone, false, false);
      } else if (failure == SqlFailure.TRY_AGAIN) {
        end(operations, WalletCode.BUSY, undone);
      } else if (failure == SqlFailure.STATEMENT && operations.size() > 1) {
        halve(operations, undone, wait);
      } else {
        log.warn("MySQL has failed during operations on wallets: {}", e.toString());
        end(operations, WalletCode.WALLET_UNAVAILABLE, undone);
      }
    }
  }

  /** Rows of one wallet that were edited by hand may refuse every entry; the others can go on. */
  private void halve(
      List<PendingOperation> operations, Map<Long, WalletOutcome> undone, boolean wait) {
    if (operations.size() == 1) {
      end(operations, WalletCode.BUSY, undone);
      return;
    }
    int half = operations.size() / 2;
    executeChunk(operations.subList(0, half), undone, wait);
    executeChunk(operations.subList(half, operations.size()), undone, wait);
  }

  private static void end(
      List<PendingOperation> operations, WalletCode code, Map<Long, WalletOutcome> undone) {
    for (PendingOperation each : operations) {
      each.outcome = WalletOutcome.of(code);
      undone.put(each.userId(), each.outcome);
    }
  }

  /** Repeats work that is refused a row; empty when it was undone every time. Or 503 BUSY. */
  private <T> Optional<T> repeatedly(Transactions.Work<T> work, boolean wait) {
    for (int tries = 0; tries <= RETRIES; tries++) {
      try {
        return wait ? connections.within(() -> transactions.run(work)) : transactions.run(work);
      } catch (DataAccessException | TransactionException e) {
        if (SqlFailure.of(e) != SqlFailure.ROW) {
          throw e;
        }
        log.debug("Operations on wallets are decided again", e);
      }
      meters.conflict();
    }
    return Optional.empty();
  }

  /**
   * Refunds what is left of a charge and closes it, so that it can never be made. A repeat changes
   * nothing.
   *
   * @param requestId key of the refund
   * @return DONE, or why nothing was done
   * @throws DataAccessException when the outcome is unknown
   * @throws TransactionException as well
   * @throws ProblemException 503 BUSY when too many others wait for locks
   */
  WalletCode close(long chargeId, String requestId) {
    WalletCode code =
        repeatedly(jdbc -> WalletTransactions.close(jdbc, chargeId, requestId), true)
            .orElse(WalletCode.BUSY);
    meters.count(code);
    return code;
  }

  /** As {@link WalletTable#setVerified}, on a connection of its own. */
  void setVerified(Map<Long, Long> verified) {
    if (!verified.isEmpty()) {
      var unused = transactions.run(jdbc -> WalletTable.setVerified(jdbc, verified));
    }
  }
}
