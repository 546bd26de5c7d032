package io.seckill.consumer.ledger;

import static java.util.stream.Collectors.groupingBy;

import io.seckill.common.broker.BrokerTopology;
import io.seckill.consumer.internal.Problem;
import io.seckill.consumer.internal.ProblemException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;
import redis.clients.jedis.exceptions.JedisException;

/**
 * The ledgers of the SKUs on sale as last read, and since when one does not balance. Of each order
 * queue one read is made at a time, whoever asks; an answer is at most {@value #REUSE_MS} ms old.
 * Thread-safe.
 */
@Component
public class Ledgers {

  private static final Logger log = LoggerFactory.getLogger(Ledgers.class);

  static final int REUSE_MS = 500;

  /** What moves is not off in all of some reads, each a few milliseconds long. */
  private static final int READS = 3;

  private final LedgerReader reader;
  private final DatabaseBalanceItems mysql;
  private final LedgerProperties settings;
  private final LedgerMeters meters;
  private final Clock clock;
  private final Map<Long, SkuLedger> last = new ConcurrentHashMap<>();
  private final UnbalancedSince unbalanced = new UnbalancedSince();
  private final List<Object> readLocks =
      Stream.generate(Object::new).limit(BrokerTopology.ORDER_QUEUES).toList();

  Ledgers(
      LedgerReader reader,
      DatabaseBalanceItems mysql,
      LedgerProperties settings,
      LedgerMeters meters,
      Clock clock) {
    this.reader = reader;
    this.mysql = mysql;
    this.settings = settings;
    this.meters = meters;
    this.clock = clock;
  }

  /**
   * @throws ProblemException 404 UNKNOWN_SKU
   * @throws JedisException when Redis is away
   * @throws DataAccessException when MySQL is
   */
  public SkuLedger of(long skuId) {
    int queue = LedgerReader.queueOf(skuId);
    synchronized (readLocks.get(queue)) {
      SkuLedger known = last.get(skuId);
      if (known != null && isFresh(known)) {
        return known;
      }
      return read(queue, Set.of(skuId)).stream()
          .findFirst()
          .orElseThrow(
              () -> ProblemException.notFound(Problem.UNKNOWN_SKU, "There is no such product."));
    }
  }

  /** One from the future was read before the clock was set back. */
  private boolean isFresh(SkuLedger known) {
    return Duration.between(known.readAt(), clock.instant()).abs().toMillis() < REUSE_MS;
  }

  /**
   * Reads the SKUs on sale, or so until lately, again; one queue that cannot be read leaves the
   * others alone.
   */
  void refresh() {
    long start = System.nanoTime();
    List<Long> watched = mysql.watched(settings.maxSkus());
    Map<Integer, List<Long>> byQueue = watched.stream().collect(groupingBy(LedgerReader::queueOf));
    byQueue.forEach(
        (queue, skus) -> {
          try {
            synchronized (readLocks.get(queue)) {
              read(queue, skus);
            }
          } catch (JedisException e) {
            log.warn("The ledgers of queue {} cannot be read now: {}", queue, e.toString());
          }
        });
    last.keySet().retainAll(Set.copyOf(watched));
    meters.show(latest(), Duration.ofNanos(System.nanoTime() - start), clock.instant());
  }

  /** The last reading of every SKU on sale. */
  public List<SkuLedger> latest() {
    return List.copyOf(last.values());
  }

  private List<SkuLedger> read(int queue, Collection<Long> skus) {
    List<SkuLedger> balanced = new ArrayList<>();
    Set<Long> open = new HashSet<>(skus);
    List<SkuLedger> ledgers = List.of();
    for (int reads = 0; reads < READS && !open.isEmpty(); reads++) {
      ledgers = reader.read(queue, open);
      open.clear();
      for (SkuLedger ledger : ledgers) {
        if (ledger.balanced()) {
          balanced.add(ledger);
        } else {
          open.add(ledger.skuId());
        }
      }
    }
    List<SkuLedger> all = new ArrayList<>();
    balanced.forEach(ledger -> all.add(remember(ledger)));
    ledgers.stream().filter(ledger -> !ledger.balanced()).forEach(l -> all.add(remember(l)));
    return all;
  }

  private SkuLedger remember(SkuLedger ledger) {
    SkuLedger remembered = ledger.since(unbalanced.see(ledger));
    last.put(ledger.skuId(), remembered);
    return remembered;
  }
}
