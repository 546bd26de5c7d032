package io.seckill.gateway.security;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.ipfilter.IpSubnetFilterRule;
import io.netty.util.NetUtil;
import io.seckill.common.order.OrderId;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a user, or an address, may make one more request now. Each running gateway grants
 * an equal share of each limit. Thread-safe.
 */
public final class RateLimits {

  /** Header that lists the hops in front of this gateway. */
  public static final String FORWARDED_FOR = "X-Forwarded-For";

  /** Header by which the purchases of this gateway's warm-up show that they are its own. */
  public static final String WARM_UP = "Warm-Up";

  /**
   * Honest users know the ids of their orders, so nearly every search finds an order and its token
   * is returned; the rate only has to allow for a few mistyped links.
   */
  private static final double SEARCHES_PER_SECOND = 2;

  private static final int SEARCHES_AT_ONCE = 50;

  /** IPv4 and a port; IPv6 in brackets, and perhaps a port. */
  private static final Pattern WITH_PORT =
      Pattern.compile("([0-9.]++):[0-9]{1,5}|\\[([0-9A-Fa-f:.]++)](?::[0-9]{1,5})?");

  /** Most users, and most addresses, kept in memory; about 150 bytes each. */
  private static final int MAX_KEYS = 100_000;

  private final @Nullable TokenBuckets users;
  private final TokenBuckets searches;
  private final @Nullable TokenBuckets addresses;
  private final List<IpSubnetFilterRule> proxies;

  /** Nobody else can have it. */
  private final String warmUpSecret = UUID.randomUUID().toString();

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

  /** Reports that the search found an order, or no answer of a store: it then does not count. */
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

  /** The value of {@link #WARM_UP} for this gateway's own purchases. */
  public String warmUpSecret() {
    return warmUpSecret;
  }

  /**
   * Whether the warm-up of this gateway sent a request. All its purchases come from one address,
   * and where an issuer signs tokens from few users; no limit applies to them.
   */
  public boolean isWarmUp(HttpHeaders headers) {
    String sent = headers.get(WARM_UP);
    return sent != null && MessageDigest.isEqual(bytes(sent), bytes(warmUpSecret));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Returns the last hop that is not a trusted proxy; the header entries before it may be forged.
   */
  InetAddress client(InetAddress peer, List<String> forwardedFor) {
    InetAddress client = peer;
    String[] hops = String.join(",", forwardedFor).split(",", -1);
    for (int i = hops.length - 1; i >= 0 && isTrusted(client); i--) {
      InetAddress hop = address(hops[i].trim());
      if (hop == null) {
        return client;
      }
      client = hop;
    }
    return client;
  }

  /** Null when the hop is no address; some proxies add a port to it. */
  private static @Nullable InetAddress address(String hop) {
    Matcher parts = WITH_PORT.matcher(hop);
    return NetUtil.createInetAddressFromIpAddressString(
        parts.matches() ? Objects.requireNonNullElse(parts.group(1), parts.group(2)) : hop);
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

  /**
   * One token bucket per key: {@code burst} calls at once, refilled at {@code perSecond}, both
   * divided by the number of running gateways, but at least one call at once. A bucket follows a
   * change of that number when it is next used. Memory is bounded: a key is removed once it has
   * been unused long enough for its bucket to be full again, however many gateways run. Beyond
   * {@code maxKeys} the least used keys are removed early, which can only give them more tokens.
   * Thread-safe. Bucket4j would replace {@link Bucket} only: keys would still need Caffeine.
   */
  static final class TokenBuckets {

    private static final double NANOS_PER_SECOND = 1e9;

    /** Each running gateway has a worker number. */
    private static final int MAX_GATEWAYS = 1 << OrderId.WORKER_BITS;

    private final double perNano;
    private final double burst;
    private final RunningGateways gateways;
    private final LongSupplier nanoTime;
    private final Cache<Object, Bucket> buckets;

    /**
     * @param perSecond more than 0
     * @param burst from 1
     * @param maxKeys from 1
     */
    TokenBuckets(
        double perSecond, int burst, int maxKeys, RunningGateways gateways, LongSupplier nanoTime) {
      this.perNano = perSecond / NANOS_PER_SECOND;
      this.burst = burst;
      this.gateways = gateways;
      this.nanoTime = nanoTime;
      Duration full = Duration.ofNanos((long) (Math.max(burst, MAX_GATEWAYS) / perNano + 1));
      this.buckets =
          Caffeine.newBuilder()
              .maximumSize(maxKeys)
              .expireAfterAccess(full)
              .ticker(nanoTime::getAsLong)
              .executor(Runnable::run) // a pool would be woken for each new shopper
              .build();
    }

    boolean take(Object key) {
      long now = nanoTime.getAsLong();
      int sharedBy = gateways.count();
      double atOnce = atOnce(sharedBy);
      Bucket bucket = buckets.get(key, k -> new Bucket(atOnce, now));
      return bucket.take(now, perNano / sharedBy, atOnce);
    }

    private double atOnce(int sharedBy) {
      return Math.max(1, burst / sharedBy);
    }

    /**
     * Returns a token that was taken; a key that was removed meanwhile starts with a full bucket
     * anyway.
     */
    void returnToken(Object key) {
      Bucket bucket = buckets.getIfPresent(key);
      if (bucket != null) {
        bucket.returnToken(atOnce(gateways.count()));
      }
    }

    long size() {
      buckets.cleanUp();
      return buckets.estimatedSize();
    }

    private static final class Bucket {
      private double tokens;
      private long filledNanos;

      Bucket(double tokens, long now) {
        this.tokens = tokens;
        this.filledNanos = now;
      }

      synchronized boolean take(long now, double perNano, double burst) {
        long elapsed = Math.max(0, now - filledNanos);
        tokens = Math.min(burst, tokens + elapsed * perNano);
        filledNanos += elapsed;
        if (tokens < 1) {
          return false;
        }
        tokens--;
        return true;
      }

      synchronized void returnToken(double burst) {
        tokens = Math.min(burst, tokens + 1);
      }
    }
  }
}
