package io.seckill.relay.recovery;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.UnifiedJedis;

/**
 * One lane's right to its private queue. A lease begins with a new token, and so with a new private
 * queue; it is over when another relay has fenced it (adopt.lua) or the lane gave it up. The lane's
 * thread begins and ends leases; the {@link LaneLeaseRenewer} renews them.
 *
 * <p>Only the token distinguishes leases. Relay name and lane number are for operators: two relays
 * with the same name do no harm, and a restarted relay finds its former private queues in the same
 * way as other relays do.
 */
public final class LaneLease {

  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int TOKEN_BYTES = 8;

  private final int partition;
  private final String prefix;
  private final Duration lease;

  private volatile @Nullable String token;
  private volatile long workedAt = System.nanoTime();
  private volatile List<String> deadLeases = List.of();
  private volatile List<String> lost = List.of();

  /**
   * @param relay name of the relay, {@code [A-Za-z0-9_.-]+}
   * @param lane number of the lane within its relay
   * @param lease how long a lease lasts without renewal
   */
  public LaneLease(String relay, int lane, int partition, Duration lease) {
    this.prefix = relay + ':' + lane + ':';
    this.partition = partition;
    this.lease = lease;
  }

  public int partition() {
    return partition;
  }

  /** The current lease's token in the lanes registry, or null without a lease. */
  public @Nullable String token() {
    return token;
  }

  /** Begins a lease; it is registered before its private queue can hold any order. */
  public String begin(UnifiedJedis redis) {
    byte[] unique = new byte[TOKEN_BYTES];
    RANDOM.nextBytes(unique);
    String begun = prefix + HexFormat.of().formatHex(unique);
    Registry.enter(redis, partition, begun, lease);
    worked();
    token = begun;
    return begun;
  }

  /**
   * Ends the current lease, so that lanes adopt its private queue at once. Registers the lease
   * again, as over, when the registry no longer has it: a late claim may have moved orders to the
   * queue. Does nothing without a lease.
   */
  public void end(UnifiedJedis redis) {
    String ended = token;
    token = null;
    if (ended != null) {
      Registry.retire(redis, partition, ended);
    }
  }

  /** Begins the time anew after which the lease of a lane that cannot work is not renewed. */
  public void worked() {
    workedAt = System.nanoTime();
  }

  boolean workedWithin(Duration time) {
    return System.nanoTime() - workedAt < time.toNanos();
  }

  /**
   * Whether another relay has fenced this lease, or Redis has lost the registry, as the renewer
   * last found. A lane that claims finds out itself.
   */
  public boolean isLost() {
    String current = token;
    return current != null && lost.contains(current);
  }

  void lost(List<String> tokens) {
    lost = tokens;
  }

  /** Dead leases of the partition with orders left, as the renewer last found them. */
  public List<String> deadLeases() {
    return deadLeases;
  }

  void deadLeases(List<String> tokens) {
    deadLeases = tokens;
  }
}
