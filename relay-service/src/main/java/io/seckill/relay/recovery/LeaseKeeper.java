package io.seckill.relay.recovery;

import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.common.order.UnreadableMessageException;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.PipelineReplies;
import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.redis.RedisSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * One thread per relay that renews the leases of all its lanes, finds dead private queues for them
 * to adopt, and looks at what waits. A thread of its own, so that a lane waiting for the broker
 * does not lose its lease; a lane that cannot work for too long does.
 */
public final class LeaseKeeper implements Runnable {

  private static final Logger log = LoggerFactory.getLogger(LeaseKeeper.class);
  private static final LuaScript RENEW = LuaScript.from(LeaseKeeper.class, "renew.lua");

  private final RedisSettings redisSettings;
  private final LeaseSettings settings;
  private final List<LaneLease> leases;
  private final OrphanSearch orphans = new OrphanSearch();
  private final CountDownLatch stop = new CountDownLatch(1);
  private final PartitionBacklog[] backlogs = new PartitionBacklog[Partition.COUNT];
  private volatile long seenAt = System.nanoTime();

  private @Nullable UnifiedJedis redis;
  private boolean away;

  /**
   * @param leases of all lanes of this relay
   */
  public LeaseKeeper(RedisSettings redisSettings, LeaseSettings settings, List<LaneLease> leases) {
    this.redisSettings = redisSettings.withMaxConnections(1);
    this.settings = settings;
    this.leases = List.copyOf(leases);
    Arrays.fill(backlogs, PartitionBacklog.NONE);
  }

  @Override
  public void run() {
    try {
      do {
        round();
      } while (!stop.await(settings.renewInterval().toMillis(), TimeUnit.MILLISECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      disconnect();
    }
  }

  /** Ends the thread after its present round. */
  public void requestStop() {
    stop.countDown();
  }

  private void round() {
    try {
      renewAll(connected());
      orphans.step(connected());
      seen();
    } catch (JedisException e) {
      lost(e);
    }
  }

  private void renewAll(UnifiedJedis jedis) {
    List<PartitionRound> rounds = new ArrayList<>();
    try (AbstractPipeline pipeline = jedis.pipelined()) {
      for (int partition = 0; partition < Partition.COUNT; partition++) {
        rounds.add(new PartitionRound(partition, pipeline));
      }
      pipeline.sync();
    }
    rounds.forEach(round -> round.finish(jedis));
  }

  private UnifiedJedis connected() {
    UnifiedJedis current = redis;
    if (current == null) {
      current = RedisClients.openForOneMaster(redisSettings, "relay-leases");
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

  private void seen() {
    seenAt = System.nanoTime();
    if (away) {
      away = false;
      log.info("leases are renewed again");
    }
  }

  private void lost(JedisException cause) {
    disconnect(); // the next round may find another master
    if (!away) {
      away = true;
      log.warn("leases cannot be renewed: {}", cause.toString());
    }
  }

  /** What waits in a partition, as of the last successful round. */
  public PartitionBacklog backlog(int partition) {
    return backlogs[partition];
  }

  /** Time since the last successful round. */
  public Duration sinceSeen() {
    return Duration.ofNanos(System.nanoTime() - seenAt);
  }

  /** One partition's part of a round: queued first, read after the pipeline has run. */
  private final class PartitionRound {
    private final int partition;
    private final List<String> keys;
    private final List<String> args = new ArrayList<>();
    private final Response<Object> renewed;
    private final Response<Long> depth;
    private final Response<String> oldest;

    PartitionRound(int partition, AbstractPipeline pipeline) {
      this.partition = partition;
      this.keys = List.of(RedisKeys.lanes(partition));
      args.add(Long.toString(settings.duration().toMillis()));
      args.add(Long.toString(settings.quietPeriod().toMillis()));
      args.add(RedisKeys.privateQueue(partition, ""));
      lanes().stream()
          .filter(lease -> lease.workedWithin(settings.handOverAfter()))
          .map(LaneLease::member)
          .filter(Objects::nonNull)
          .forEach(args::add);
      renewed = RENEW.queue(pipeline, keys, args);
      depth = pipeline.llen(RedisKeys.outbox(partition));
      oldest = pipeline.lindex(RedisKeys.outbox(partition), -1);
    }

    void finish(UnifiedJedis jedis) {
      List<?> reply = (List<?>) RENEW.answer(renewed, jedis, keys, args);
      long now = (Long) reply.get(0);
      List<String> dead = reply.subList(2, reply.size()).stream().map(String.class::cast).toList();
      lanes().forEach(lease -> lease.deadMembers(dead));
      backlogs[partition] = backlog(now, (Long) reply.get(1));
    }

    private PartitionBacklog backlog(long now, long dead) {
      try {
        return new PartitionBacklog(
            PipelineReplies.get(depth), age(PipelineReplies.get(oldest), now), dead);
      } catch (JedisDataException e) {
        return PartitionBacklog.UNKNOWN; // a foreign key in its place: its lane says so
      }
    }

    private List<LaneLease> lanes() {
      return leases.stream().filter(lease -> lease.partition() == partition).toList();
    }

    private static long age(@Nullable String entry, long now) {
      if (entry == null) {
        return 0;
      }
      try {
        return Math.max(0, now - OrderMessageCodec.decode(entry).admittedAt());
      } catch (UnreadableMessageException e) {
        return 0; // counted where it is published, as a dead letter
      }
    }
  }
}
