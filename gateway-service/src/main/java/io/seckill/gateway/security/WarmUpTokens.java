package io.seckill.gateway.security;

import java.time.Clock;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Makes tokens of nonexistent shoppers for the purchases with which a gateway warms up.
 * Thread-safe.
 */
public final class WarmUpTokens {

  /** Each token is used once, immediately. */
  private static final Duration LIFETIME = Duration.ofMinutes(1);

  private final TokenSigner signer;
  private final Clock clock;

  WarmUpTokens(SecurityProperties settings, Clock clock) {
    this.signer = new TokenSigner(settings);
    this.clock = clock;
  }

  /**
   * Returns the token of a different shopper for each number; their ids are the highest possible.
   *
   * @param number from 0
   * @return null when tokens are signed with an issuer's keys
   */
  public @Nullable String shopper(int number) {
    String subject = Long.toString(Long.MAX_VALUE - number);
    return signer.canSign() ? signer.sign(subject, null, clock.instant().plus(LIFETIME)) : null;
  }
}
