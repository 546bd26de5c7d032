package io.seckill.gateway.security;

import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.ipfilter.IpSubnetFilterRule;
import io.netty.util.NetUtil;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a user, or an address, may make one more request now. Each running gateway grants
 * an equal share of each limit. Thread-safe.
 */
public final class RateLimits {

  /** Header that lists the hops in front of this gateway. */
  public static final String FORWARDED_FOR = "X-Forwarded-For";

  /**
   * Honest users know the ids of their orders, so nearly every search finds an order and its token
   * is returned; the rate only has to allow for a few mistyped links.
   */
  private static final double SEARCHES_PER_SECOND = 2;

  private static final int SEARCHES_AT_ONCE = 50;

  /** Most users, and most addresses, kept in memory; about 150 bytes each. */
  private static final int MAX_KEYS = 100_000;

  private final @Nullable TokenBuckets users;
  private final TokenBuckets searches;
  private final @Nullable TokenBuckets addresses;
  private final List<IpSubnetFilterRule> proxies;

  RateLimits(RateLimitProperties settings, RunningGateways gateways, LongSupplier nanoTime) {
    this.users = buckets(settings.userPerSecond(), settings.userBurst(), gateways, nanoTime);
    this.searches =
        new TokenBuckets(SEARCHES_PER_SECOND, SEARCHES_AT_ONCE, MAX_KEYS, gateways, nanoTime);
    this.addresses =
        buckets(settings.addressPerSecond(), settings.addressBurst(), gateways, nanoTime);
    this.proxies = settings.proxies();
  }

  private static @Nullable TokenBuckets buckets(
      double perSecond, int burst, RunningGateways gateways, LongSupplier nanoTime) {
    return perSecond == 0 ? null : new TokenBuckets(perSecond, burst, MAX_KEYS, gateways, nanoTime);
  }

  /**
   * @param userId from the verified token
   */
  public boolean admitsUser(long userId) {
    return users == null || users.take(userId);
  }

  /**
   * Whether the stores may be searched for an order unknown to this gateway. A search that finds an
   * order does not count, see {@link #found}. Bounds the cost of made-up order ids.
   */
  public boolean admitsSearch(long userId) {
    return searches.take(userId);
  }

  /** Reports that the search found an order; it then does not count. */
  public void found(long userId) {
    searches.returnToken(userId);
  }

  /**
   * Whether the client address of a request may make one more request. The address is determined
   * through trusted proxies.
   */
  public boolean admitsAddress(@Nullable InetSocketAddress peer, HttpHeaders headers) {
    return addresses == null || admitsAddress(peer, headers.getAll(FORWARDED_FOR));
  }

  /** As {@link #admitsAddress(InetSocketAddress, HttpHeaders)}, from the header's values. */
  public boolean admitsAddress(@Nullable InetSocketAddress peer, List<String> forwardedFor) {
    InetAddress client = peer == null ? null : peer.getAddress();
    return addresses == null || client == null || addresses.take(key(client(client, forwardedFor)));
  }

  /**
   * Returns the last hop that is not a trusted proxy; the header entries before it may be forged.
   */
  InetAddress client(InetAddress peer, List<String> forwardedFor) {
    InetAddress client = peer;
    String[] hops = String.join(",", forwardedFor).split(",", -1);
    for (int i = hops.length - 1; i >= 0 && isTrusted(client); i--) {
      InetAddress hop = NetUtil.createInetAddressFromIpAddressString(hops[i].trim());
      if (hop == null) {
        return client;
      }
      client = hop;
    }
    return client;
  }

  private boolean isTrusted(InetAddress address) {
    InetSocketAddress peer = new InetSocketAddress(address, 0);
    return proxies.stream().anyMatch(proxy -> proxy.matches(peer));
  }

  /** Uses the /64 prefix of an IPv6 address: one household has a whole /64. */
  private static Object key(InetAddress address) {
    return address instanceof Inet6Address
        ? ByteBuffer.wrap(address.getAddress()).getLong()
        : address;
  }
}
