package io.seckill.gateway.security;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.util.Base64URL;
import io.seckill.support.thread.DaemonThreads;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.text.ParseException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks signatures with the public keys that an issuer publishes. Checks use the key set as last
 * read; a background thread reads it again, so that no request ever waits for the issuer. An
 * unknown key id triggers an early read, at most every ten seconds, and is refused until the set
 * contains it.
 */
final class JwkSetSignatureCheck implements SignatureCheck {

  private static final Logger log = LoggerFactory.getLogger(JwkSetSignatureCheck.class);
  private static final Set<String> ALGORITHMS = Set.of("RS256", "PS256", "ES256");
  private static final int TIMEOUT_MS = 2_000;
  private static final int MAX_BYTES = 256 * 1024;
  private static final long EARLY_READ_NANOS = Duration.ofSeconds(10).toNanos();

  private final URI uri;
  private final Runnable onChange;
  private final ScheduledExecutorService reader =
      Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("jwk-set-reader"));
  private final ScheduledFuture<?> refreshing;
  private final AtomicLong lastReadNanos = new AtomicLong();
  private volatile JWKSet keys;

  /**
   * Reads the set once; if this fails the gateway does not start, because it could verify no token.
   *
   * @param onChange called after the set has changed
   * @throws IllegalStateException when the set cannot be read
   */
  JwkSetSignatureCheck(URI uri, Duration refresh, Runnable onChange) {
    this.uri = uri;
    this.onChange = onChange;
    try {
      this.keys = load();
    } catch (IOException | ParseException e) {
      reader.shutdownNow();
      throw new IllegalStateException("cannot read seckill.security.jwk-set-uri " + uri, e);
    }
    long periodMs = refresh.toMillis();
    this.refreshing =
        reader.scheduleWithFixedDelay(this::reload, periodMs, periodMs, TimeUnit.MILLISECONDS);
  }

  @Override
  public boolean isGenuine(String token, int headerEnd, int payloadEnd) {
    JoseHeader header = JoseHeader.parse(token.substring(0, headerEnd));
    if (header == null || !ALGORITHMS.contains(header.algorithm())) {
      return false;
    }
    JWK key = key(header);
    return key != null && verify(key, header, token, payloadEnd);
  }

  private @Nullable JWK key(JoseHeader header) {
    JWKSet set = keys;
    List<JWK> all = set.getKeys();
    JWK key =
        header.keyId() != null
            ? set.getKeyByKeyId(header.keyId())
            : all.size() == 1 ? all.get(0) : null;
    if (key == null) {
      readEarly();
      return null;
    }
    boolean forSignatures = key.getKeyUse() == null || KeyUse.SIGNATURE.equals(key.getKeyUse());
    boolean forAlgorithm =
        key.getAlgorithm() == null || key.getAlgorithm().getName().equals(header.algorithm());
    return forSignatures && forAlgorithm ? key : null;
  }

  private static boolean verify(JWK key, JoseHeader header, String token, int payloadEnd) {
    JWSHeader jws = new JWSHeader(JWSAlgorithm.parse(header.algorithm()));
    byte[] signed = token.substring(0, payloadEnd).getBytes(StandardCharsets.ISO_8859_1);
    Base64URL signature = new Base64URL(token.substring(payloadEnd + 1));
    try {
      if (key instanceof RSAKey rsa && !header.algorithm().equals("ES256")) {
        return new RSASSAVerifier(rsa).verify(jws, signed, signature);
      }
      return key instanceof ECKey ec
          && header.algorithm().equals("ES256")
          && new ECDSAVerifier(ec).verify(jws, signed, signature);
    } catch (JOSEException e) {
      return false;
    }
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
    refreshing.cancel(false);
    reader.shutdownNow();
  }
}
