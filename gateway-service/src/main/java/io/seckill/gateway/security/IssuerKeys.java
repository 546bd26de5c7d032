package io.seckill.gateway.security;

import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.proc.SecurityContext;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.seckill.support.thread.DaemonThreads;
import java.net.URI;
import java.text.ParseException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClientResponse;
import reactor.netty.resources.LoopResources;

/**
 * The public keys that an issuer publishes, as last read. A background thread reads them again, and
 * every two seconds until it has read them once. An unknown key triggers an early read, at most
 * every ten seconds; its tokens are refused until the set contains it. Nimbus' own {@code
 * JWKSourceBuilder} makes the request with an unknown key wait for the issuer, which would block an
 * event loop.
 */
final class IssuerKeys implements JWKSource<SecurityContext>, AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(IssuerKeys.class);

  /** Longest time for a whole read: the start waits for the first one. */
  private static final Duration READ_WITHIN = Duration.ofSeconds(5);

  private static final int MAX_BYTES = 256 * 1024;
  private static final long FIRST_READ_RETRY_MS = 2_000;

  /** Bounds the signature checks of a token without key id; issuers publish two or three keys. */
  private static final int MOST_KEYS_TRIED = 8;

  private static final long EARLY_READ_NANOS = Duration.ofSeconds(10).toNanos();

  private final URI uri;
  private final Runnable onChange;
  private final LoopResources loop = LoopResources.create("jwk-set-reads", 1, true);
  private final WebClient issuer =
      WebClient.builder()
          .clientConnector(
              new ReactorClientHttpConnector(
                  HttpClient.newConnection()
                      .runOn(loop)
                      .followRedirect((request, answer) -> isFollowed(answer))
                      .proxyWithSystemProperties()))
          .codecs(codecs -> codecs.defaultCodecs().maxInMemorySize(MAX_BYTES))
          .build();
  private final ScheduledExecutorService reader =
      Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("jwk-set-reader"));
  private final AtomicLong lastReadNanos = new AtomicLong();
  private volatile @Nullable JWKSet keys;

  /**
   * Reads the set once, and goes on without when that fails. Calls {@code onChange} after the set
   * has changed.
   */
  IssuerKeys(URI uri, Duration refresh, Runnable onChange) {
    this.uri = uri;
    this.onChange = onChange;
    readFirst();
    long periodMs = refresh.toMillis();
    var unused =
        reader.scheduleWithFixedDelay(this::reload, periodMs, periodMs, TimeUnit.MILLISECONDS);
  }

  /** Whether the set has been read; until then no token can be verified. */
  boolean areRead() {
    return keys != null;
  }

  /** Returns the keys that match a token's header: usually one, several if it names no key. */
  @Override
  public List<JWK> get(JWKSelector selector, @Nullable SecurityContext context) {
    JWKSet published = keys;
    List<JWK> matching = published == null ? List.of() : selector.select(published);
    if (matching.isEmpty()) {
      readEarly();
    }
    return matching.subList(0, Math.min(matching.size(), MOST_KEYS_TRIED));
  }

  /** Reads the set soon, unless it was read in the last ten seconds. */
  void readEarly() {
    long last = lastReadNanos.get();
    long now = System.nanoTime();
    if (now - last > EARLY_READ_NANOS && lastReadNanos.compareAndSet(last, now)) {
      reader.execute(this::reload);
    }
  }

  private void readFirst() {
    reload();
    if (!areRead()) {
      var unused = reader.schedule(this::readFirst, FIRST_READ_RETRY_MS, TimeUnit.MILLISECONDS);
    }
  }

  private void reload() {
    try {
      JWKSet read = load();
      if (!read.equals(keys)) {
        keys = read;
        onChange.run();
        log.info("jwk set {} changed: {} keys", uri, read.size());
      }
    } catch (ParseException | RuntimeException | Error e) {
      // a throw would end the schedule
      log.warn("jwk set {} cannot be read: {}", uri, e.toString());
    }
  }

  private JWKSet load() throws ParseException {
    lastReadNanos.set(System.nanoTime());
    return JWKSet.parse(
        issuer
            .get()
            .uri(uri)
            .retrieve()
            .bodyToMono(String.class)
            .blockOptional(READ_WITHIN)
            .orElseThrow());
  }

  /** Not from https to http: anybody in between could answer. */
  private boolean isFollowed(HttpClientResponse answer) {
    String to = answer.responseHeaders().get(HttpHeaderNames.LOCATION);
    return answer.status().code() / 100 == 3
        && to != null
        && uri.getScheme().equalsIgnoreCase(uri.resolve(to).getScheme());
  }

  @Override
  public void close() {
    reader.shutdownNow();
    loop.dispose();
  }
}
