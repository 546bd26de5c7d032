package io.seckill.common.broker;

import static io.seckill.common.settings.SettingChecks.check;
import static io.seckill.common.settings.SettingChecks.uri;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.AddressResolver;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.seckill.common.settings.SettingChecks;
import io.seckill.common.settings.TrustedAuthorities;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Connects to any of the broker's nodes. An attempt tries one address after the other, in an order
 * of its own, so that connections spread over the nodes. It never begins with the address that a
 * connection of the same name tried last: that one may have been lost because its node is.
 *
 * <p>The client's automatic recovery is off: after a recovery, the delivery tags and publish
 * sequence numbers of a channel start again, so that an old one would settle another message, and
 * lost publishes would seem to be confirmed (facts.md 15). The owner of a connection opens a new
 * one after any error.
 */
public final class BrokerAddresses extends ConnectionFactory {

  /**
   * Time after which an attempt tries no further address. An address that does not answer costs the
   * time-outs of connecting and of the handshake; a stop, and the lease of a lane, do not wait for
   * those of a long list.
   */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(6);

  /** A broker that is reachable accepts within milliseconds. */
  private static final int CONNECT_TIMEOUT_MS = 2_000;

  /** Login and tuning: the broker may be busy with the reconnects of all services. */
  private static final int HANDSHAKE_TIMEOUT_MS = 5_000;

  /** One answer on a channel; the client's own default is 10 minutes. */
  private static final int RPC_TIMEOUT_MS = 5_000;

  private final List<Address> addresses;

  /** The address tried last, by the name of the connection; clones of this factory share it. */
  private final Map<String, Address> latest = new ConcurrentHashMap<>();

  /**
   * With {@code amqps} a certificate must come from a trusted authority and name the host; by
   * default the client library trusts any certificate.
   *
   * @param caFile PEM file of the authorities to trust; null for those of the Java platform
   * @throws IllegalArgumentException when a URL is invalid or the file holds no certificate
   */
  public BrokerAddresses(List<String> urls, @Nullable Path caFile) {
    List<URI> uris = checked(urls, caFile).stream().map(BrokerAddresses::parse).toList();
    try {
      setUri(uris.get(0));
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      throw new IllegalArgumentException("seckill.broker.urls: " + e.getMessage(), e);
    }
    if (isSSL()) {
      useSslProtocol(TrustedAuthorities.context(caFile));
      enableHostnameVerification();
    }
    setAutomaticRecoveryEnabled(false);
    setTopologyRecoveryEnabled(false);
    setConnectionTimeout(CONNECT_TIMEOUT_MS);
    setHandshakeTimeout(HANDSHAKE_TIMEOUT_MS);
    setChannelRpcTimeout(RPC_TIMEOUT_MS);
    // else a missed heartbeat waits for a write to a broker that does not read, for ever
    setShutdownExecutor(Executors.newCachedThreadPool(BrokerAddresses::closer));
    this.addresses =
        uris.stream()
            .map(uri -> new Address(uri.getHost(), portOrDefault(uri.getPort(), isSSL())))
            .distinct()
            .toList();
  }

  /**
   * @param urls {@code amqp[s]://user:password@host:port/vhost}, at least one; they differ in host
   *     and port only
   * @throws IllegalArgumentException naming the property, without any password
   */
  @SuppressWarnings("ConstantValue") // Spring's binder passes null for absent values
  public static List<String> checked(List<String> urls, @Nullable Path caFile) {
    check(
        urls != null
            && !urls.isEmpty()
            && urls.stream().allMatch(url -> url.matches("amqps?://.+")),
        "seckill.broker.urls (formerly seckill.broker.url) must be amqp[s]://..., with commas"
            + " between several");
    List<URI> uris = urls.stream().map(BrokerAddresses::parse).toList();
    check(
        uris.stream().allMatch(uri -> uri.getHost() != null),
        "seckill.broker.urls must each name a host");
    check(
        uris.stream().allMatch(SettingChecks::hasPossiblePort),
        "seckill.broker.urls must have ports 1..65535");
    check(
        uris.stream().map(BrokerAddresses::allButAddress).distinct().count() == 1,
        "seckill.broker.urls must have the same scheme, user, password and vhost");
    check(
        caFile == null || "amqps".equals(uris.get(0).getScheme()),
        "seckill.broker.ca-file is of no use without amqps://");
    return List.copyOf(urls);
  }

  private static URI parse(String url) {
    return uri("seckill.broker.urls", url);
  }

  private static List<@Nullable String> allButAddress(URI uri) {
    return Arrays.asList(
        uri.getScheme(), uri.getRawUserInfo(), uri.getRawPath(), uri.getRawQuery());
  }

  /** All other methods that connect call this one, with the address of the first URL. */
  @Override
  public Connection newConnection(
      @Nullable ExecutorService executor, AddressResolver first, @Nullable String name)
      throws IOException, TimeoutException {
    long start = System.nanoTime();
    String owner = String.valueOf(name);
    Iterator<Address> order = order(owner).iterator();
    while (true) {
      Address address = order.next();
      latest.put(owner, address);
      try {
        return super.newConnection(executor, createAddressResolver(List.of(address)), name);
      } catch (IOException | TimeoutException e) {
        if (!order.hasNext() || System.nanoTime() - start > PATIENCE_NANOS) {
          throw e;
        }
      }
    }
  }

  private static Thread closer(Runnable work) {
    Thread thread = new Thread(work, "broker-closer");
    thread.setDaemon(true);
    return thread;
  }

  private List<Address> order(String owner) {
    List<Address> order = new ArrayList<>(addresses);
    Collections.shuffle(order);
    if (order.get(0).equals(latest.get(owner))) {
      Collections.rotate(order, -1);
    }
    return order;
  }
}
