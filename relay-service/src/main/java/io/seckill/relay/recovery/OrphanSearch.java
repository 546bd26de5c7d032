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
 * Finds private queues that nobody knows: a claim sent before a freeze and arriving after its queue
 * was forgotten, by a relay that died right then, or a registry lost with Redis's data. Walks the
 * key space one page at a time; what it finds is registered as dead, and adopted like any other.
 */
final class OrphanSearch {

  private static final Logger log = LoggerFactory.getLogger(OrphanSearch.class);

  /** Keys looked at per step: some 0.3 ms of Redis's time. */
  private static final int PAGE = 1_000;

  private static final String ANY_PRIVATE_QUEUE = "seckill:{*}:lane:*";
  private static final Pattern PRIVATE_QUEUE = Pattern.compile("seckill:\\{(\\d{1,2})}:lane:(.+)");

  private @Nullable ScanIteration walk;
  private @Nullable UnifiedJedis walked;

  /** Looks at one more page of keys. Whatever fails is looked at again by a later walk. */
  void step(UnifiedJedis redis) {
    try {
      nextPage(redis).forEach(key -> register(redis, key));
    } catch (JedisException e) {
      log.debug("a search for private queues of no known lane ended early: {}", e.toString());
    }
  }

  private List<String> nextPage(UnifiedJedis redis) {
    ScanIteration current = walk;
    if (current == null || current.isIterationCompleted() || walked != redis) {
      current = redis.scanIteration(PAGE, ANY_PRIVATE_QUEUE, "list");
    }
    walk = null; // an error leaves nothing half walked
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
        log.warn("found the private queue {} of no known lane; it will be adopted", key);
      }
    } catch (JedisDataException e) { // the registry of this partition is a foreign key
      log.debug("the private queue {} cannot be registered: {}", key, e.toString());
    }
  }
}
