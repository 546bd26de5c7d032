package io.seckill.gateway.security;

import java.time.Clock;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Tokens of shoppers who do not exist, for the purchases by which a gateway warms itself up.
 * Thread-safe.
 */
public final class WarmUpTokens {

  /** Each is used once, at once. */
  private static final Duration LIFETIME = Duration.ofMinutes(1);

  private final TokenSigner signer;
  private final Clock clock;

  WarmUpTokens(SecurityProperties settings, Clock clock) {
    this.signer = new TokenSigner(settings);
    this.clock = clock;
  }

  /**
   * The token of another shopper for each number; their ids are the highest there can be.
   *
   * @param number from 0
   * @return null when tokens are signed by somebody else's keys
   */
  public @Nullable String shopper(int number) {
    String subject = Long.toString(Long.MAX_VALUE - number);
    return signer.canSign() ? signer.sign(subject, null, clock.instant().plus(LIFETIME)) : null;
  }
}
