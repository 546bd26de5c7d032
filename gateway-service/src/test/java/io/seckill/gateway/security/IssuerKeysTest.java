package io.seckill.gateway.security;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.Payload;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKMatcher;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.sun.net.httpserver.HttpServer;
import io.seckill.support.web.ProblemCode;
import io.seckill.testing.Bounded;
import io.seckill.testing.Ports;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.boot.health.contributor.Status;

class IssuerKeysTest {

  // Generated once, because that takes a second.
  private static final RSAKey rsa = rsaKey("r1");
  private static final RSAKey second = rsaKey("r2");
  private static final RSAKey stranger = rsaKey("s1");
  private static final ECKey ec = ecKey();

  private HttpServer issuer;
  private final WarmUpKey warmUpKey = new WarmUpKey();
  private SecurityProperties settings;
  private volatile JWKSet published;
  private final List<Long> readNanos = new CopyOnWriteArrayList<>();

  /** Until then an answer trickles. */
  private volatile CountDownLatch healed = new CountDownLatch(0);

  @BeforeEach
  void publishKeys() throws IOException {
    published = new JWKSet(List.of(rsa, ec));
    publish(Ports.free());
  }

  private void publish(int port) throws IOException {
    issuer = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    issuer.createContext(
        "/keys",
        exchange -> {
          readNanos.add(System.nanoTime());
          byte[] set = published.toString(true).getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, 0);
          trickle(exchange.getResponseBody());
          exchange.getResponseBody().write(set);
          exchange.close();
        });
    issuer.start();
  }

  private void trickle(OutputStream answer) throws IOException {
    try {
      while (!healed.await(100, TimeUnit.MILLISECONDS)) {
        answer.write(' ');
        answer.flush();
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  @AfterEach
  void stopIssuer() {
    issuer.stop(0);
  }

  @Test
  void takesTokensSignedByThePublishedKeys() throws JOSEException {
    try (TokenVerifier verifier = verifier()) {
      assertThat(verifier.verify(token(JWSAlgorithm.RS256, "r1", new RSASSASigner(rsa))))
          .isNotNull();
      assertThat(verifier.verify(token(JWSAlgorithm.PS256, "r1", new RSASSASigner(rsa))))
          .isNotNull();
      assertThat(verifier.verify(token(JWSAlgorithm.ES256, "e1", new ECDSASigner(ec)))).isNotNull();
    }
  }

  @Test
  void takesATokenWithoutKeyIdWhenOneKeyFits() throws JOSEException {
    try (TokenVerifier verifier = verifier()) {
      assertThat(verifier.verify(token(JWSAlgorithm.ES256, null, new ECDSASigner(ec)))).isNotNull();
    }
  }

  @Test
  void refusesOtherAlgorithmsAndOtherKeys() throws JOSEException {
    try (TokenVerifier verifier = verifier()) {
      assertThat(verifier.verify(token(JWSAlgorithm.RS512, "r1", new RSASSASigner(rsa)))).isNull();
      assertThat(verifier.verify(token(JWSAlgorithm.RS256, "r1", new RSASSASigner(stranger))))
          .isNull();
      assertThat(verifier.verify(token(JWSAlgorithm.RS256, "r2", new RSASSASigner(rsa)))).isNull();
      assertThat(verifier.verify(token(JWSAlgorithm.RS256, "e1", new RSASSASigner(rsa)))).isNull();
    }
  }

  @Test
  void refusesThePublicKeyUsedAsAnHmacSecret() throws JOSEException {
    byte[] publicKey = rsa.toPublicJWK().toString().getBytes(StandardCharsets.UTF_8);
    try (TokenVerifier verifier = verifier()) {
      assertThat(verifier.verify(token(JWSAlgorithm.HS256, "r1", new MACSigner(publicKey))))
          .isNull();
    }
  }

  @Test
  void takesATokenWithoutKeyIdOfAnyKeyThatFits() throws JOSEException {
    published = new JWKSet(List.of(rsa, second, ec));
    try (TokenVerifier verifier = verifier()) {
      for (RSAKey key : List.of(rsa, second)) {
        assertThat(verifier.verify(token(JWSAlgorithm.RS256, null, new RSASSASigner(key))))
            .isNotNull();
        assertThat(verifier.verify(token(JWSAlgorithm.PS256, null, new RSASSASigner(key))))
            .isNotNull();
      }
      assertThat(verifier.verify(token(JWSAlgorithm.RS256, "r1", new RSASSASigner(second))))
          .as("signed with another key than it names")
          .isNull();
      assertThat(verifier.verify(token(JWSAlgorithm.RS256, null, new RSASSASigner(stranger))))
          .isNull();
    }
  }

  /** Each key costs the check of a signature. */
  @Test
  void triesAFewKeysOnlyForATokenThatNamesNone() throws JOSEException {
    List<JWK> keys = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      keys.add(new RSAKey.Builder(second).keyID("other-" + i).build());
    }
    keys.add(rsa);
    published = new JWKSet(keys);
    try (TokenVerifier verifier = verifier()) {
      assertThat(verifier.verify(token(JWSAlgorithm.RS256, null, new RSASSASigner(second))))
          .isNotNull();
      assertThat(verifier.verify(token(JWSAlgorithm.RS256, null, new RSASSASigner(rsa)))).isNull();
      assertThat(verifier.verify(token(JWSAlgorithm.RS256, "r1", new RSASSASigner(rsa))))
          .isNotNull();
    }
  }

  @Test
  void readsNoKeySetThatIsTooLong() {
    published = new JWKSet(List.of(rsa), Map.of("note", "x".repeat(256 * 1024)));
    try (TokenVerifier verifier = startedVerifier()) {
      assertThat(verifier.refusal()).isEqualTo(ProblemCode.UNAVAILABLE);
    }
  }

  @Test
  void startsWithoutItsIssuerAndReadsTheKeysLater() throws IOException, JOSEException {
    int port = issuer.getAddress().getPort();
    issuer.stop(0);
    String token = token(JWSAlgorithm.RS256, "r1", new RSASSASigner(rsa));
    RSAKey own = warmUpKey.pair();
    String checked = token(JWSAlgorithm.RS256, own.getKeyID(), new RSASSASigner(own));
    try (TokenVerifier verifier = startedVerifier()) {
      ReactiveHealthIndicator health =
          new SecurityConfiguration().issuerKeysHealthIndicator(verifier);
      assertThat(verifier.verify(token)).isNull();
      assertThat(verifier.refusal()).isEqualTo(ProblemCode.UNAVAILABLE);
      assertThat(health.health().block().getStatus()).isEqualTo(Status.OUT_OF_SERVICE);
      assertThat(verifier.verify(checked)).isNotNull();
      warmUpKey.forget();

      publish(port);

      eventually().until(() -> verifier.verify(token) != null);
      assertThat(verifier.refusal()).isEqualTo(ProblemCode.UNAUTHORIZED);
      assertThat(health.health().block().getStatus()).isEqualTo(Status.UP);
      eventually("a full check with the keys that were read")
          .until(() -> verifier.verify(checked) == null);
    }
  }

  @Test
  void followsTheIssuerToAnotherPath() {
    URI former = movedTo("/keys");
    try (IssuerKeys keys = new IssuerKeys(former, Duration.ofMinutes(5), () -> {})) {
      eventually().until(keys::areRead);
    }
  }

  /** From http to https, which needs no certificate here; the check is the same. */
  @Test
  void doesNotFollowTheIssuerToAnotherScheme() throws IOException {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      URI former = movedTo("https://127.0.0.1:" + other.getLocalPort() + "/keys");
      try (IssuerKeys keys = new IssuerKeys(former, Duration.ofMinutes(5), () -> {})) {
        eventually("the redirect").until(() -> !readNanos.isEmpty());
        other.setSoTimeout(1);

        assertThatThrownBy(other::accept).isInstanceOf(SocketTimeoutException.class);
        assertThat(keys.areRead()).isFalse();
      }
    }
  }

  /** The former address of the key set, which redirects there. */
  private URI movedTo(String location) {
    issuer.createContext(
        "/former",
        exchange -> {
          readNanos.add(System.nanoTime());
          exchange.getResponseHeaders().set("Location", location);
          exchange.sendResponseHeaders(302, -1);
          exchange.close();
        });
    return URI.create(keysUri()).resolve("/former");
  }

  /** Each byte comes in time, and the last one never. */
  @Test
  void startsWithAnIssuerWhoseAnswerTricklesAndReadsTheKeysLater() {
    healed = new CountDownLatch(1);
    CompletableFuture<TokenVerifier> start = CompletableFuture.supplyAsync(this::startedVerifier);
    try {
      eventually("the start goes on").until(start::isDone);
      try (TokenVerifier verifier = Bounded.get(start)) {
        assertThat(verifier.refusal()).isEqualTo(ProblemCode.UNAVAILABLE);

        healed.countDown();

        eventually().until(() -> verifier.refusal() == ProblemCode.UNAUTHORIZED);
      }
    } finally {
      healed.countDown();
    }
  }

  /** Anybody can send tokens that name a key which does not exist. */
  @Test
  void readsNoSetEarlyThatWasJustRead() {
    Duration refresh = Duration.ofSeconds(1);
    JWKSelector unknown = new JWKSelector(new JWKMatcher.Builder().keyID("unknown").build());
    long begun = System.nanoTime();
    try (IssuerKeys keys = new IssuerKeys(URI.create(keysUri()), refresh, () -> {})) {
      assertThat(keys.get(unknown, null)).isEmpty();

      eventually().until(() -> readNanos.size() > 1);
      assertThat(readNanos.get(1) - begun).isGreaterThanOrEqualTo(refresh.toNanos());
    }
  }

  @Test
  void forgetsAKeyThatIsNoLongerPublished() {
    AtomicInteger changes = new AtomicInteger();
    JWKSelector selector = new JWKSelector(new JWKMatcher.Builder().keyID("r1").build());
    try (IssuerKeys keys =
        new IssuerKeys(URI.create(keysUri()), Duration.ofMillis(50), changes::incrementAndGet)) {
      eventually().until(() -> keys.get(selector, null).size() == 1);
      eventually().until(() -> changes.get() == 1);

      published = new JWKSet(List.of(ec));

      eventually().until(() -> keys.get(selector, null).isEmpty());
      eventually().until(() -> changes.get() == 2);
    }
  }

  @Test
  void takesTheTokensOfItsOwnWarmUpUntilThatEnds() {
    try (TokenVerifier verifier = verifier()) {
      WarmUpTokens tokens = new WarmUpTokens(settings, warmUpKey);

      Identity first = verifier.verify(tokens.shopper(0));
      Identity second = verifier.verify(tokens.shopper(1));
      assertThat(first).isNotNull();
      assertThat(first.isShopper()).isTrue();
      assertThat(first.isOperator()).isFalse();
      assertThat(second).isNotNull().isNotEqualTo(first);
      assertThat(tokens.shopper(1_024)).as("signed before").isEqualTo(tokens.shopper(0));

      String unused = tokens.shopper(2);
      tokens.end();
      assertThat(verifier.verify(unused)).isNull();
    }
  }

  @Test
  void takesNoTokenThatOnlyNamesTheKeyOfTheWarmUp() throws JOSEException {
    try (TokenVerifier verifier = verifier()) {
      String keyId = warmUpKey.pair().getKeyID();
      byte[] publicKey = warmUpKey.pair().toPublicJWK().toString().getBytes(StandardCharsets.UTF_8);

      assertThat(verifier.verify(token(JWSAlgorithm.RS256, keyId, new RSASSASigner(rsa)))).isNull();
      assertThat(verifier.verify(token(JWSAlgorithm.HS256, keyId, new MACSigner(publicKey))))
          .isNull();
    }
  }

  private static RSAKey rsaKey(String id) {
    try {
      return new RSAKeyGenerator(2048).keyID(id).generate();
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  private static ECKey ecKey() {
    try {
      return new ECKeyGenerator(Curve.P_256).keyID("e1").generate();
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  /** With the keys, which a slow machine may not read in time at the start. */
  private TokenVerifier verifier() {
    TokenVerifier verifier = startedVerifier();
    eventually().until(() -> verifier.refusal() == ProblemCode.UNAUTHORIZED);
    return verifier;
  }

  private TokenVerifier startedVerifier() {
    settings = new SecurityProperties("", keysUri(), "*", "*");
    return new TokenVerifier(settings, warmUpKey, Clock.systemUTC());
  }

  private String keysUri() {
    return "http://127.0.0.1:" + issuer.getAddress().getPort() + "/keys";
  }

  private static String token(JWSAlgorithm algorithm, @Nullable String keyId, JWSSigner signer)
      throws JOSEException {
    JWSObject jws =
        new JWSObject(
            new JWSHeader.Builder(algorithm).keyID(keyId).build(),
            new Payload("{\"sub\":\"42\",\"exp\":4102444800}"));
    jws.sign(signer);
    return jws.serialize();
  }
}
