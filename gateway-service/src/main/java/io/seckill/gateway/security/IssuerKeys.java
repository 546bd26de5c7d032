package io.seckill.gateway.security;

import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.proc.SecurityContext;
import io.seckill.support.thread.DaemonThreads;
import java.io.IOException;
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

/**
 * The public keys that an issuer publishes, as last read. A background thread reads them again. An
 * unknown key triggers an early read, at most every ten seconds; its tokens are refused until the
 * set contains it. Nimbus' own {@code JWKSourceBuilder} makes the request with an unknown key wait
 * for the issuer, which would block an event loop.
 */
final class IssuerKeys implements JWKSource<SecurityContext>, AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(IssuerKeys.class);
  private static final int TIMEOUT_MS = 2_000;
  private static final int MAX_BYTES = 256 * 1024;
  private static final long EARLY_READ_NANOS = Duration.ofSeconds(10).toNanos();

  private final URI uri;
  private final Runnable onChange;
  private final ScheduledExecutorService reader =
      Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("jwk-set-reader"));
  private final AtomicLong lastReadNanos = new AtomicLong();
  private volatile JWKSet keys;

  /**
   * Reads the set once; if this fails the gateway does not start, because it could verify no token.
   *
   * @param onChange called after the set has changed
   * @throws IllegalStateException when the set cannot be read
   */
  IssuerKeys(URI uri, Duration refresh, Runnable onChange) {
    this.uri = uri;
    this.onChange = onChange;
    try {
      this.keys = load();
    } catch (IOException | ParseException e) {
      reader.shutdownNow();
      throw new IllegalStateException("cannot read seckill.security.jwk-set-uri " + uri, e);
    }
    long periodMs = refresh.toMillis();
    var unused =
        reader.scheduleWithFixedDelay(this::reload, periodMs, periodMs, TimeUnit.MILLISECONDS);
  }

  /** Returns the one key that matches a token's header, or none: one signature check a token. */
  @Override
  public List<JWK> get(JWKSelector selector, @Nullable SecurityContext context) {
    List<JWK> matching = selector.select(keys);
    if (matching.isEmpty()) {
      readEarly();
    }
    return matching.size() == 1 ? matching : List.of();
  }

  private void readEarly() {
    long last = lastReadNanos.get();
    long now = System.nanoTime();
    if (now - last > EARLY_READ_NANOS && lastReadNanos.compareAndSet(last, now)) {
      reader.execute(this::reload);
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
    } catch (IOException | ParseException | RuntimeException e) { // a throw would end the schedule
      log.warn("jwk set {} cannot be read, keeping the last one: {}", uri, e.toString());
    }
  }

  private JWKSet load() throws IOException, ParseException {
    lastReadNanos.set(System.nanoTime());
    return JWKSet.load(uri.toURL(), TIMEOUT_MS, TIMEOUT_MS, MAX_BYTES);
  }

  @Override
  public void close() {
    reader.shutdownNow();
  }
}
