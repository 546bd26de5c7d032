package io.seckill.gateway.security;

import com.nimbusds.jose.jwk.RSAKey;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Makes tokens of nonexistent shoppers for the purchases with which a gateway warms up: signed with
 * the secret, or, where an issuer signs the tokens of shoppers, with a key of this process.
 * Thread-safe.
 */
@Component
public final class WarmUpTokens {

  /** Each token is used at once. */
  private static final Duration LIFETIME = Duration.ofMinutes(1);

  /**
   * Shoppers whose tokens a key signs. To sign one takes as long as ten purchases; the check of a
   * thousand is enough to have it compiled.
   */
  private static final int SHOPPERS_WITH_KEY = 1_024;

  private final SecurityProperties settings;
  private final WarmUpKey key;
  private final AtomicReferenceArray<Signed> signed = new AtomicReferenceArray<>(SHOPPERS_WITH_KEY);

  WarmUpTokens(SecurityProperties settings, WarmUpKey key) {
    this.settings = settings;
    this.key = key;
  }

  private record Signed(String token, Instant until) {}

  /**
   * Returns the token of a different shopper for each number from 0, or of one in 1,024; their ids
   * are the highest possible.
   */
  public String shopper(int number) {
    if (settings.jwkSetUri().isEmpty()) {
      return sign(null, number).token();
    }
    int shopper = number % SHOPPERS_WITH_KEY;
    Signed last = signed.get(shopper);
    if (last == null || last.until().minus(LIFETIME.dividedBy(2)).isBefore(Instant.now())) {
      last = sign(key.pair(), shopper);
      signed.set(shopper, last);
    }
    return last.token();
  }

  /** Ends the use of a key: nobody can sign further tokens with it. */
  public void end() {
    key.forget();
  }

  private Signed sign(@Nullable RSAKey with, int number) {
    Instant until = Instant.now().plus(LIFETIME);
    String subject = Long.toString(Long.MAX_VALUE - number);
    return new Signed(TokenSigner.sign(settings, with, subject, null, until), until);
  }
}
