package io.seckill.relay.recovery;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.UnifiedJedis;

/**
 * One lane's right to its private queue. A life begins with a new token, and so with a new private
 * queue; it is over when another relay has fenced it (adopt.lua) or the lane gave it up. The lane's
 * thread begins and ends lives; the {@link LaneLeaseRenewer} renews them.
 *
 * <p>What tells lives apart is the token alone. Relay and lane number are for people: two relays of
 * one name do no harm, and a restarted relay finds its former queues as everybody else does.
 */
public final class LaneLease {

  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int TOKEN_BYTES = 8;

  private final int partition;
  private final String prefix;
  private final Duration lease;

  private volatile @Nullable String member;
  private volatile long workedAt = System.nanoTime();
  private volatile List<String> deadMembers = List.of();

  /**
   * @param relay name of the relay, {@code [A-Za-z0-9_.-]+}
   * @param lane number of the lane within its relay
   * @param lease how long a life lasts without renewal
   */
  public LaneLease(String relay, int lane, int partition, Duration lease) {
    this.prefix = relay + ':' + lane + ':';
    this.partition = partition;
    this.lease = lease;
  }

  /** Partition of the lane, 0..15. */
  public int partition() {
    return partition;
  }

  /** The present life's member of the lanes registry, or null between lives. */
  public @Nullable String member() {
    return member;
  }

  /** Begins a life; it is registered before anything can lie in its private queue. */
  public String begin(UnifiedJedis redis) {
    byte[] token = new byte[TOKEN_BYTES];
    RANDOM.nextBytes(token);
    String begun = prefix + HexFormat.of().formatHex(token);
    Registry.enter(redis, partition, begun, lease);
    worked();
    member = begun;
    return begun;
  }

  /**
   * Ends the present life and hands its private queue to the sweepers, at once and also when it was
   * forgotten already: a claim may have come late. Does nothing between lives.
   */
  public void end(UnifiedJedis redis) {
    String ended = member;
    member = null;
    if (ended != null) {
      Registry.retire(redis, partition, ended);
    }
  }

  /** Tells that the lane is able to work; without it the life is not renewed for long. */
  public void worked() {
    workedAt = System.nanoTime();
  }

  /** Whether the lane was able to work within the time given. */
  boolean workedWithin(Duration time) {
    return System.nanoTime() - workedAt < time.toNanos();
  }

  /** Dead lives of the partition with orders left, as the keeper saw last. */
  public List<String> deadMembers() {
    return deadMembers;
  }

  void deadMembers(List<String> members) {
    deadMembers = members;
  }
}
