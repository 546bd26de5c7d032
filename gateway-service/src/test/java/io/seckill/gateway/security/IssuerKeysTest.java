package io.seckill.gateway.security;

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
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class IssuerKeysTest {

  private HttpServer issuer;
  private RSAKey rsa;
  private ECKey ec;

  @BeforeEach
  void publishKeys() throws IOException, JOSEException {
    rsa = new RSAKeyGenerator(2048).keyID("r1").generate();
    ec = new ECKeyGenerator(Curve.P_256).keyID("e1").generate();
    byte[] set = new JWKSet(List.of(rsa, ec)).toString(true).getBytes(StandardCharsets.UTF_8);
    issuer = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    issuer.createContext(
        "/keys",
        exchange -> {
          exchange.sendResponseHeaders(200, set.length);
          exchange.getResponseBody().write(set);
          exchange.close();
        });
    issuer.start();
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
    RSAKey stranger = new RSAKeyGenerator(2048).generate();
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
  void doesNotStartWhenTheKeysCannotBeRead() {
    issuer.stop(0);

    assertThatThrownBy(this::verifier).hasMessageContaining("jwk-set-uri");
  }

  private TokenVerifier verifier() {
    String uri = "http://127.0.0.1:" + issuer.getAddress().getPort() + "/keys";
    return new TokenVerifier(new SecurityProperties("", uri, "", ""), Clock.systemUTC());
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
