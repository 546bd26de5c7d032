package io.seckill.gateway.security;

import io.seckill.support.web.PathIds;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Makes tokens of nonexistent shoppers for the purchases with which a gateway warms up: signed with
 * the secret, or, where an issuer signs the tokens of shoppers, with a key of this process.
 * Thread-safe.
 */
public final class WarmUpTokens {

  /** Each token is used at once. */
  private static final Duration LIFETIME = Duration.ofMinutes(1);

  /**
   * Shoppers whose tokens a key signs. To sign one takes as long as ten purchases; the check of a
   * thousand is enough to have it compiled.
   */
  private static final int SHOPPERS_WITH_KEY = 1_024;

  /** Most shoppers, as {@code seckill.warm-up.requests} allows. */
  private static final long MOST_SHOPPERS = 1_000_000;

  private final SecurityProperties settings;
  private final WarmUpKey key;
  private final Clock clock;
  private final AtomicReferenceArray<Signed> signed = new AtomicReferenceArray<>(SHOPPERS_WITH_KEY);
  private volatile boolean inUse;

  WarmUpTokens(SecurityProperties settings, WarmUpKey key, Clock clock) {
    this.settings = settings;
    this.key = key;
    this.clock = clock;
  }

  private record Signed(String token, Instant until) {}

  /**
   * Returns the token of a different shopper for each number from 0, or of one in 1,024; their ids
   * are the highest possible.
   */
  public String shopper(int number) {
    inUse = true;
    if (settings.jwkSetUri().isEmpty()) {
      return sign(TokenSigner.withSecret(settings), number).token();
    }
    int shopper = number % SHOPPERS_WITH_KEY;
    Signed last = signed.get(shopper);
    if (last == null || last.until().minus(LIFETIME.dividedBy(2)).isBefore(clock.instant())) {
      last = sign(TokenSigner.withKey(settings, key.pair()), shopper);
      signed.set(shopper, last);
    }
    return last.token();
  }

  /**
   * Whether a purchase rehearses the answer to an admission: every second one of these shoppers, of
   * the SKU that is never on sale. The compiler drops branches that the warm-up never takes, and
   * the first sale would wait for it; so the condition, too, is one branch, which it takes both
   * ways.
   */
  public boolean rehearses(long skuId, long userId) {
    return ((skuId ^ PathIds.NEVER_ON_SALE) | (userId & 1)) == 0
        && inUse
        && userId > Long.MAX_VALUE - MOST_SHOPPERS;
  }

  /** Ends the rehearsals and the use of a key: nobody can sign further tokens with it. */
  public void end() {
    inUse = false;
    key.forget();
  }

  private Signed sign(TokenSigner signer, int number) {
    Instant until = clock.instant().plus(LIFETIME);
    return new Signed(signer.sign(Long.toString(Long.MAX_VALUE - number), null, until), until);
  }
}
