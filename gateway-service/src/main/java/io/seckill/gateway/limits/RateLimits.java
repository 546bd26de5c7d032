package io.seckill.gateway.limits;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.netty.http.server.HttpServerRequest;

/** Says whether a user, or an address, may make one more request now. Thread-safe. */
public final class RateLimits {

  /** What tells of the hops in front of this gateway. */
  public static final String FORWARDED_FOR = "X-Forwarded-For";

  /**
   * An honest user knows the ids of his orders, so that nearly every search finds one and is given
   * back; the rest is what a few mistyped links need.
   */
  private static final double SEARCHES_PER_SECOND = 2;

  private static final int SEARCHES_AT_ONCE = 50;

  private final @Nullable TokenBuckets users;
  private final TokenBuckets searches;
  private final @Nullable TokenBuckets addresses;
  private final List<Network> proxies;

  RateLimits(RateLimitProperties settings, LongSupplier nanoTime) {
    this.users =
        buckets(settings.userPerSecond(), settings.userBurst(), settings.maxKeys(), nanoTime);
    this.searches =
        new TokenBuckets(SEARCHES_PER_SECOND, SEARCHES_AT_ONCE, settings.maxKeys(), nanoTime);
    this.addresses =
        buckets(settings.addressPerSecond(), settings.addressBurst(), settings.maxKeys(), nanoTime);
    this.proxies = settings.proxies();
  }

  private static @Nullable TokenBuckets buckets(
      double perSecond, int burst, int maxKeys, LongSupplier nanoTime) {
    return perSecond == 0 ? null : new TokenBuckets(perSecond, burst, maxKeys, nanoTime);
  }

  /**
   * @param userId from the verified token
   */
  public boolean admitsUser(long userId) {
    return users == null || users.take(userId);
  }

  /**
   * Whether the stores may be searched for an order this gateway knows nothing of; one that is
   * found does not count, see {@link #found}. Bounds what invented order ids cost.
   */
  public boolean admitsSearch(long userId) {
    return searches.take(userId);
  }

  /** The search was for a real order. */
  public void found(long userId) {
    searches.compensation(userId);
  }

  /** Judges the address a request comes from, through the proxies that are trusted. */
  public boolean admitsAddress(HttpServerRequest request) {
    return addresses == null
        || admitsAddress(request.remoteAddress(), request.requestHeaders().getAll(FORWARDED_FOR));
  }

  /** As {@link #admitsAddress(HttpServerRequest)}, from the connection and the header's values. */
  public boolean admitsAddress(@Nullable InetSocketAddress peer, List<String> forwardedFor) {
    InetAddress client = peer == null ? null : peer.getAddress();
    return addresses == null || client == null || addresses.take(key(client(client, forwardedFor)));
  }

  /**
   * The last hop that no trusted proxy vouches for; what stands before it anyone may have made up.
   */
  InetAddress client(InetAddress peer, List<String> forwardedFor) {
    InetAddress client = peer;
    String[] hops = String.join(",", forwardedFor).split(",", -1);
    for (int i = hops.length - 1; i >= 0 && isTrusted(client); i--) {
      InetAddress hop = Network.address(hops[i].trim());
      if (hop == null) {
        return client;
      }
      client = hop;
    }
    return client;
  }

  private boolean isTrusted(InetAddress address) {
    for (Network proxy : proxies) {
      if (proxy.contains(address)) {
        return true;
      }
    }
    return false;
  }

  /** One household has a whole /64 of IPv6. */
  private static Object key(InetAddress address) {
    if (!(address instanceof Inet6Address)) {
      return address;
    }
    long prefix = 0;
    byte[] bytes = address.getAddress();
    for (int i = 0; i < 8; i++) {
      prefix = prefix << 8 | (bytes[i] & 0xff);
    }
    return prefix;
  }
}
