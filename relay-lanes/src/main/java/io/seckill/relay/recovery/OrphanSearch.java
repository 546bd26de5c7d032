package io.seckill.relay.recovery;

import io.seckill.common.order.Partition;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.ScanIteration;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Finds private queues that are not in the registry. There are two causes: a relay froze and died
 * after it sent a claim, which arrived when its queue was no longer registered; or the registry was
 * lost with Redis's data. Scans the key space one page at a time; a queue it finds is registered as
 * dead, and adopted like any other.
 */
final class OrphanSearch {

  private static final Logger log = LoggerFactory.getLogger(OrphanSearch.class);

  /** Keys scanned per step: some 0.3 ms of Redis's time. */
  private static final int PAGE = 1_000;

  private static final String ANY_PRIVATE_QUEUE = "seckill:{*}:lane:*";
  private static final Pattern PRIVATE_QUEUE = Pattern.compile("seckill:\\{(\\d{1,2})}:lane:(.+)");

  private @Nullable ScanIteration walk;
  private @Nullable UnifiedJedis walked;

  /** Scans one more page of keys. Keys skipped after an error are found by a later scan. */
  void step(UnifiedJedis redis) {
    try {
      nextPage(redis).forEach(key -> register(redis, key));
    } catch (JedisException e) {
      log.debug("a search for unregistered private queues ended early: {}", e.toString());
    }
  }

  private List<String> nextPage(UnifiedJedis redis) {
    ScanIteration current = walk;
    if (current == null || current.isIterationCompleted() || walked != redis) {
      current = redis.scanIteration(PAGE, ANY_PRIVATE_QUEUE, "list");
    }
    walk = null; // after an error the scan starts over
    List<String> found = List.copyOf(current.nextBatchList());
    walk = current;
    walked = redis;
    return found;
  }

  private static void register(UnifiedJedis redis, String key) {
    Matcher name = PRIVATE_QUEUE.matcher(key);
    if (!name.matches() || Integer.parseInt(name.group(1)) >= Partition.COUNT) {
      return;
    }
    int partition = Integer.parseInt(name.group(1));
    try {
      if (Registry.enterOrphan(redis, partition, name.group(2))) {
        log.warn("found private queue {}, which is not registered; it will be adopted", key);
      }
    } catch (JedisDataException e) { // the registry key has another type
      log.debug("the private queue {} cannot be registered: {}", key, e.toString());
    }
  }
}
