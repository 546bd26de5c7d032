package io.seckill.gateway.security;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import java.security.Key;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * A key of this process for the tokens of its warm-up, which nobody else can sign where an issuer
 * signs those of shoppers. It exists from its first use to the end of the warm-up. Thread-safe.
 */
@Component
final class WarmUpKey {

  static final JWSAlgorithm ALGORITHM = JWSAlgorithm.RS256;
  private static final int BITS = 2_048;

  private volatile @Nullable RSAKey pair;

  /** The pair of keys, made by the first call. */
  synchronized RSAKey pair() {
    RSAKey made = pair;
    if (made == null) {
      made = make();
      pair = made;
    }
    return made;
  }

  /** The public key, if the header names it; else null. */
  @Nullable Key of(JWSHeader header) throws JOSEException {
    RSAKey made = pair;
    return made != null
            && made.getKeyID().equals(header.getKeyID())
            && header.getAlgorithm().equals(ALGORITHM)
        ? made.toRSAPublicKey()
        : null;
  }

  /** Forgets the key: its tokens are refused from now on, unless they are cached. */
  void forget() {
    pair = null;
  }

  private static RSAKey make() {
    try {
      return new RSAKeyGenerator(BITS).keyID("warm-up-" + UUID.randomUUID()).generate();
    } catch (JOSEException e) {
      throw new IllegalStateException("every Java platform has RSA", e);
    }
  }
}
