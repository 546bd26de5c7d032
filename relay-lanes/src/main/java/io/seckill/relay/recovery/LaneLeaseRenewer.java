package io.seckill.relay.recovery;

import io.seckill.common.order.Partition;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.redis.RedisSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * One thread per process that renews the leases of all its lanes, finds dead private queues for
 * them to adopt, and reads the backlog of each partition. It is a separate thread so that a lane
 * waiting for the broker does not lose its lease; a lane that cannot work for too long does lose
 * it.
 */
public final class LaneLeaseRenewer implements Runnable {

  private static final Logger log = LoggerFactory.getLogger(LaneLeaseRenewer.class);
  private static final LuaScript RENEW = LuaScript.from(LaneLeaseRenewer.class, "renew.lua");

  private final Supplier<UnifiedJedis> opener;
  private final boolean apart;
  private final LeaseSettings settings;
  private final List<LaneLease> leases;
  private final OrphanSearch orphans = new OrphanSearch();
  private final boolean adopts;
  private final Backoff backoff;
  private final PartitionBacklog[] backlogs = new PartitionBacklog[Partition.COUNT];
  private volatile long renewedAt = System.nanoTime();

  private @Nullable UnifiedJedis redis;
  private boolean failed;

  /** Partitions that the last round could not renew, although it renewed others. */
  private Map<Integer, JedisException> failing = Map.of();

  /** First partition of the last round; it changes, so that no partition is always the last. */
  private int first;

  /**
   * @param leases of all lanes of this process
   * @param adopts whether these lanes adopt orders, so that private queues without a lease are
   *     searched for
   */
  public LaneLeaseRenewer(
      RedisSettings redisSettings, LeaseSettings settings, List<LaneLease> leases, boolean adopts) {
    this(
        () -> RedisClients.openForOneMaster(settings.forRenewals(redisSettings), "relay-leases"),
        redisSettings.mode() == RedisSettings.Mode.CLUSTER,
        settings,
        leases,
        adopts);
  }

  /**
   * @param apart whether partitions may be on different servers
   */
  LaneLeaseRenewer(
      Supplier<UnifiedJedis> opener,
      boolean apart,
      LeaseSettings settings,
      List<LaneLease> leases,
      boolean adopts) {
    this.opener = opener;
    this.apart = apart;
    this.settings = settings;
    this.leases = List.copyOf(leases);
    this.adopts = adopts;
    this.backoff = new Backoff(settings.renewInterval(), settings.renewInterval());
    Arrays.fill(backlogs, PartitionBacklog.NONE);
  }

  @Override
  public void run() {
    try {
      do {
        round();
        backoff.pause(settings.renewInterval());
      } while (!backoff.isStopped());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      disconnect();
    }
  }

  /** Ends the thread after its current round. */
  public void requestStop() {
    backoff.stop();
  }

  /** Never throws: without this thread the lanes lose their leases for good. */
  void round() {
    try {
      renewAll(connected());
      if (adopts) {
        orphans.step(connected());
      }
      renewed();
    } catch (RuntimeException | Error e) {
      failed(e);
    }
  }

  /**
   * Renews each partition separately: a failure of one, or of its cluster node, does not prevent
   * renewal and adoption in the others.
   *
   * @throws JedisException when none could be renewed
   */
  private void renewAll(UnifiedJedis jedis) {
    if (renewTogether(jedis)) {
      return;
    }
    Map<Integer, JedisException> failures = new TreeMap<>();
    JedisException nodeUnavailable = null;
    first = (first + 1) % Partition.COUNT;
    for (int i = 0; i < Partition.COUNT; i++) {
      int partition = (first + i) % Partition.COUNT;
      if (nodeUnavailable != null && isLink(failing.get(partition))) {
        failures.put(partition, nodeUnavailable); // after the first round one time-out is enough
        continue;
      }
      try {
        renew(jedis, IntStream.of(partition));
      } catch (JedisException e) {
        if (isLink(e) && !apart) {
          throw e; // one server holds all partitions
        }
        failures.put(partition, e);
        nodeUnavailable = isLink(e) ? e : nodeUnavailable;
      }
    }
    if (failures.size() == Partition.COUNT) {
      throw failures.values().iterator().next();
    }
    if (nodeUnavailable != null) {
      disconnect(); // the next round may find another node in its place
    }
    report(failures);
  }

  /** Whether the connection to the server failed, as opposed to an error reply. */
  private static boolean isLink(@Nullable JedisException cause) {
    return cause != null && !(cause instanceof JedisDataException);
  }

  private void report(Map<Integer, JedisException> failures) {
    leases.stream().filter(one -> failures.containsKey(one.partition())).forEach(LaneLease::worked);
    failures.forEach(
        (partition, cause) -> {
          backlogs[partition] = PartitionBacklog.UNKNOWN;
          if (!failing.containsKey(partition)) {
            log.error(
                "leases of partition {} cannot be renewed, nothing is adopted there: {}",
                partition,
                cause.toString());
          }
        });
    failing.keySet().stream()
        .filter(partition -> !failures.containsKey(partition))
        .forEach(partition -> log.info("leases of partition {} are renewed again", partition));
    failing = failures;
  }

  /**
   * In one round trip, where one server has all partitions.
   *
   * @return false after an error reply, perhaps for one partition only
   */
  private boolean renewTogether(UnifiedJedis jedis) {
    if (apart || !failing.isEmpty()) {
      return false;
    }
    try {
      renew(jedis, IntStream.range(0, Partition.COUNT));
      return true;
    } catch (JedisDataException e) {
      log.debug("the leases cannot be renewed together: {}", e.toString());
      return false;
    }
  }

  private void renew(UnifiedJedis jedis, IntStream partitions) {
    List<Renewal> renewals;
    try (AbstractPipeline pipeline = jedis.pipelined()) {
      renewals = partitions.mapToObj(partition -> new Renewal(partition, pipeline)).toList();
      pipeline.sync();
    }
    renewals.forEach(renewal -> renewal.read(jedis));
  }

  /** The renewal of all leases of a partition, in a pipeline. */
  private final class Renewal {
    private final int partition;
    private final List<LaneLease> lanes;
    private final List<String> keys;
    private final List<String> args = new ArrayList<>();
    private final Response<Object> renewed;
    private final Response<Long> depth;
    private final Response<String> oldest;

    Renewal(int partition, AbstractPipeline pipeline) {
      this.partition = partition;
      this.lanes = leases.stream().filter(lease -> lease.partition() == partition).toList();
      this.keys = List.of(RedisKeys.lanes(partition));
      args.add(Long.toString(settings.duration().toMillis()));
      args.add(Long.toString(settings.quietPeriod().toMillis()));
      args.add(RedisKeys.privateQueue(partition, ""));
      lanes.stream()
          .filter(lease -> lease.workedWithin(settings.releaseAfter()))
          .map(LaneLease::token)
          .filter(Objects::nonNull)
          .forEach(args::add);
      renewed = RENEW.queue(pipeline, keys, args);
      depth = pipeline.llen(RedisKeys.outbox(partition));
      oldest = pipeline.lindex(RedisKeys.outbox(partition), -1);
    }

    void read(UnifiedJedis jedis) {
      List<?> reply = (List<?>) RENEW.answer(renewed, jedis, keys, args);
      List<String> tokens =
          reply.subList(4, reply.size()).stream().map(String.class::cast).toList();
      int lost = ((Long) reply.get(3)).intValue();
      lanes.forEach(lease -> lease.lost(tokens.subList(0, lost)));
      lanes.forEach(lease -> lease.deadLeases(tokens.subList(lost, tokens.size())));
      if ((Long) reply.get(2) > 0) {
        Registry.forgetEmpty(jedis, partition, settings.quietPeriod());
      }
      backlogs[partition] =
          PartitionBacklog.of((Long) reply.get(0), (Long) reply.get(1), depth, oldest);
    }
  }

  private UnifiedJedis connected() {
    UnifiedJedis current = redis;
    if (current == null) {
      current = opener.get();
      redis = current;
    }
    return current;
  }

  private void disconnect() {
    UnifiedJedis current = redis;
    redis = null;
    if (current != null) {
      current.close();
    }
  }

  private void renewed() {
    renewedAt = System.nanoTime();
    if (failed) {
      failed = false;
      log.info("leases are renewed again");
    }
  }

  private void failed(Throwable cause) {
    disconnect(); // the next round may find another master
    leases.forEach(LaneLease::worked); // no lane can work without Redis
    if (failed) {
      return;
    }
    failed = true;
    if (cause instanceof JedisException) {
      log.warn("leases cannot be renewed: {}", cause.toString());
    } else {
      log.error("leases cannot be renewed", cause);
    }
  }

  /** Orders waiting in a partition, as of the last successful round. */
  public PartitionBacklog backlog(int partition) {
    return backlogs[partition];
  }

  /** Time since the last successful round. */
  public Duration sinceRenewed() {
    return Duration.ofNanos(System.nanoTime() - renewedAt);
  }
}
