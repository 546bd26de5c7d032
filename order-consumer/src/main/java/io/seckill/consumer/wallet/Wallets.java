package io.seckill.consumer.wallet;

import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.consumer.runtime.CallerBatcher;
import io.seckill.consumer.runtime.Sql;
import io.seckill.consumer.runtime.SqlFailure;
import io.seckill.consumer.storage.Transactions;
import io.seckill.support.contract.WalletOperation;
import io.seckill.support.contract.WalletOutcome;
import io.seckill.support.contract.WalletOutcome.WalletCode;
import io.seckill.support.web.ProblemException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;

/**
 * Executes operations on wallets, many in one transaction. Each user has one of four batchers, so
 * batches of this process never wait for one another's locks. Operations on a wallet that another
 * transaction has locked wait for it in a batch of their own. Thread-safe.
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
  private final List<CallerBatcher<Part, List<WalletOutcome>>> batchers;
  private final List<CallerBatcher<Part, List<WalletOutcome>>> lockWaits;
  private final WalletMeters meters;

  Wallets(DataSource pool, MeterRegistry registry) {
    this.transactions = Transactions.ofWallets(pool);
    this.batchers = batchers(false);
    this.lockWaits = batchers(true);
    this.meters = new WalletMeters(registry);
  }

  private List<CallerBatcher<Part, List<WalletOutcome>>> batchers(boolean wait) {
    return Stream.generate(
            () ->
                new CallerBatcher<Part, List<WalletOutcome>>(
                    MAX_WAITING, parts -> executeParts(parts, wait)))
        .limit(BATCHERS)
        .toList();
  }

  /** Operations of one call on one batcher; equal ones of two calls are executed twice. */
  private static final class Part {
    private final List<WalletOperation> operations;

    Part(List<WalletOperation> operations) {
      this.operations = operations;
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
    List<WalletOutcome> all =
        new ArrayList<>(Collections.nCopies(operations.size(), WalletOutcome.of(WalletCode.BUSY)));
    for (int batcher = 0; batcher < BATCHERS; batcher++) {
      List<Integer> places = places(operations, batcher);
      if (submit(batchers.get(batcher), operations, places, all)) {
        places.removeIf(place -> all.get(place).code() != WalletCode.BUSY);
        var unused = submit(lockWaits.get(batcher), operations, places, all);
      }
    }
    meters.executed(all, start);
    return all;
  }

  /** Counts outcomes of an open transaction once they are committed. */
  void countAfterCommit(List<WalletOutcome> decided) {
    meters.countAfterCommit(decided);
  }

  private static List<Integer> places(List<WalletOperation> operations, int batcher) {
    List<Integer> places = new ArrayList<>();
    for (int i = 0; i < operations.size(); i++) {
      if (operations.get(i).userId() % BATCHERS == batcher) {
        places.add(i);
      }
    }
    return places;
  }

  /**
   * Executes the operations at these places, and sets their outcomes.
   *
   * @return false when too many calls wait: nothing was done
   */
  private static boolean submit(
      CallerBatcher<Part, List<WalletOutcome>> batcher,
      List<WalletOperation> operations,
      List<Integer> places,
      List<WalletOutcome> outcomes) {
    if (places.isEmpty()) {
      return true;
    }
    try {
      set(outcomes, places, batcher.submit(new Part(at(places, operations))));
      return true;
    } catch (ProblemException e) {
      return false;
    }
  }

  private static List<WalletOperation> at(List<Integer> places, List<WalletOperation> operations) {
    return places.stream().map(operations::get).toList();
  }

  private Map<Part, List<WalletOutcome>> executeParts(Set<Part> parts, boolean wait) {
    List<WalletOperation> operations =
        parts.stream().flatMap(part -> part.operations.stream()).toList();
    List<WalletOutcome> decided =
        new ArrayList<>(Collections.nCopies(operations.size(), WalletOutcome.of(WalletCode.BUSY)));
    Map<Long, WalletOutcome> undone = new HashMap<>();
    for (List<Integer> places : transactions(operations, wait)) {
      set(decided, places, executeChunk(at(places, operations), undone, wait));
      if (undone.containsValue(WalletOutcome.of(WalletCode.WALLET_UNAVAILABLE))) {
        var unused = all(operations, WalletCode.WALLET_UNAVAILABLE, undone); // none is tried now
      }
    }
    Map<Part, List<WalletOutcome>> ofParts = new HashMap<>();
    int from = 0;
    for (Part part : parts) {
      int to = from + part.operations.size();
      ofParts.put(part, List.copyOf(decided.subList(from, to)));
      from = to;
    }
    return ofParts;
  }

  /** The places of the operations of each transaction; one that may wait has one user's. */
  private static List<List<Integer>> transactions(List<WalletOperation> operations, boolean wait) {
    Map<Long, List<Integer>> apart = new LinkedHashMap<>();
    for (int i = 0; i < operations.size(); i++) {
      long user = wait ? operations.get(i).userId() : 0;
      apart.computeIfAbsent(user, each -> new ArrayList<>()).add(i);
    }
    return apart.values().stream().flatMap(all -> Sql.chunks(all, MAX_BATCH).stream()).toList();
  }

  private static void set(
      List<WalletOutcome> all, List<Integer> places, List<WalletOutcome> outcomes) {
    for (int i = 0; i < places.size(); i++) {
      all.set(places.get(i), outcomes.get(i));
    }
  }

  /**
   * An operation may depend on one of its user that was not done before it: it has the same
   * outcome, and is not executed.
   *
   * @param undone outcomes of these, by user; receives those of this chunk
   */
  private List<WalletOutcome> executeChunk(
      List<WalletOperation> operations, Map<Long, WalletOutcome> undone, boolean wait) {
    Map<Long, WalletOutcome> before = Map.copyOf(undone);
    List<WalletOperation> others =
        operations.stream().filter(each -> !before.containsKey(each.userId())).toList();
    Iterator<WalletOutcome> outcomes =
        others.isEmpty()
            ? Collections.emptyIterator()
            : decide(others, undone, wait, true).iterator();
    return operations.stream()
        .map(each -> Optional.ofNullable(before.get(each.userId())).orElseGet(outcomes::next))
        .toList();
  }

  private List<WalletOutcome> decide(
      List<WalletOperation> operations,
      Map<Long, WalletOutcome> undone,
      boolean wait,
      boolean makes) {
    try {
      List<WalletOutcome> outcomes =
          repeatedly(jdbc -> WalletTransactions.decide(jdbc, operations, false, wait, makes))
              .orElseGet(() -> halved(operations, undone, wait));
      for (int i = 0; i < outcomes.size(); i++) {
        if (outcomes.get(i).code() == WalletCode.BUSY) {
          undone.put(operations.get(i).userId(), outcomes.get(i));
        }
      }
      return outcomes;
    } catch (DataAccessException | TransactionException e) {
      SqlFailure failure = SqlFailure.of(e);
      if (failure == SqlFailure.TRY_AGAIN) {
        return makes && !wait
            ? decide(operations, undone, wait, false)
            : all(operations, WalletCode.BUSY, undone);
      } else if (failure == SqlFailure.STATEMENT && operations.size() > 1) {
        return halved(operations, undone, wait);
      }
      log.warn("MySQL has failed during operations on wallets: {}", e.toString());
      return all(operations, WalletCode.WALLET_UNAVAILABLE, undone);
    }
  }

  /** Rows of one wallet that were edited by hand may refuse every entry; the others can go on. */
  private List<WalletOutcome> halved(
      List<WalletOperation> operations, Map<Long, WalletOutcome> undone, boolean wait) {
    if (operations.size() == 1) {
      return all(operations, WalletCode.BUSY, undone);
    }
    int half = operations.size() / 2;
    List<WalletOutcome> halves =
        new ArrayList<>(executeChunk(operations.subList(0, half), undone, wait));
    halves.addAll(executeChunk(operations.subList(half, operations.size()), undone, wait));
    return halves;
  }

  /** Repeats work that is refused a row; empty when it was undone every time. */
  private <T> Optional<T> repeatedly(Transactions.Work<T> work) {
    for (int tries = 0; tries <= RETRIES; tries++) {
      try {
        return transactions.run(work);
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
   */
  WalletCode close(long chargeId, String requestId) {
    WalletCode code =
        repeatedly(jdbc -> WalletTransactions.close(jdbc, chargeId, requestId))
            .orElse(WalletCode.BUSY);
    meters.count(code);
    return code;
  }

  /**
   * Stores up to which entries wallets are right, on a connection of its own; a locked wallet is
   * left to the next check.
   *
   * @param verified numbers of the entries, by user
   */
  void setVerified(Map<Long, Long> verified) {
    if (!verified.isEmpty()) {
      var unused =
          transactions.run(
              jdbc -> {
                Map<Long, Long> free = new TreeMap<>(verified);
                free.keySet().retainAll(WalletTable.lock(jdbc, verified.keySet(), false).keySet());
                return WalletTable.setVerified(jdbc, free);
              });
    }
  }

  private static List<WalletOutcome> all(
      List<WalletOperation> operations, WalletCode code, Map<Long, WalletOutcome> undone) {
    operations.forEach(each -> undone.put(each.userId(), WalletOutcome.of(code)));
    return Collections.nCopies(operations.size(), WalletOutcome.of(code));
  }
}
