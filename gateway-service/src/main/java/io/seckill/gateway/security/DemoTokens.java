package io.seckill.gateway.security;

import io.seckill.support.web.DemoMode;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;

/** Issues tokens for the sign-in pages of demo mode; issues none when it is off. Thread-safe. */
@Component
public final class DemoTokens {

  private static final Logger log = LoggerFactory.getLogger(DemoTokens.class);
  private static final Duration LIFETIME = Duration.ofHours(12);
  private static final String OPERATOR = "demo-operator";

  private final SecurityProperties settings;
  private final boolean on;

  /**
   * @throws IllegalStateException when demo mode is on under a production profile or with a key set
   */
  DemoTokens(SecurityProperties settings, DemoMode demo, Environment environment) {
    this.settings = settings;
    this.on = demo.enabled();
    boolean production = environment.matchesProfiles("prod", "production");
    if (on && (production || !settings.jwkSetUri().isEmpty())) {
      throw new IllegalStateException(
          "seckill.demo.enabled hands a token to anybody who asks; it is refused "
              + (production ? "under a production profile" : "together with a key set")
              + ": switch it off");
    }
    if (on) {
      log.warn(
          "DEMO MODE: anybody who reaches this gateway gets shopper and operator tokens."
              + " Never with real customers; switch off seckill.demo.enabled");
    }
  }

  public record DemoToken(String token, Instant expiresAt) {}

  public boolean isOn() {
    return on;
  }

  /** Returns null when demo mode is off. */
  public @Nullable DemoToken shopper(long userId) {
    return on ? token(Long.toString(userId), null) : null;
  }

  /** Returns null when demo mode is off. */
  public @Nullable DemoToken operator() {
    return on ? token(OPERATOR, Identity.ADMIN_SCOPE) : null;
  }

  private DemoToken token(String subject, @Nullable String scope) {
    Instant expiresAt = Instant.now().plus(LIFETIME).truncatedTo(ChronoUnit.SECONDS);
    return new DemoToken(TokenSigner.sign(settings, null, subject, scope, expiresAt), expiresAt);
  }
}
