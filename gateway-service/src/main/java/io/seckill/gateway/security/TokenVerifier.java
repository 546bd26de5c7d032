package io.seckill.gateway.security;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Turns bearer tokens into identities. Thread-safe, never blocks. Verified tokens are cached in
 * bounded memory, and never accepted beyond their {@code exp}; refused ones are not cached, so that
 * they cannot evict valid ones.
 */
public final class TokenVerifier implements AutoCloseable {

  /** Far above any legitimate token; bounds the work of one request. */
  private static final int MAX_TOKEN_CHARS = 4_096;

  /** Most verified tokens cached; about 600 bytes each. */
  private static final int MAX_REMEMBERED = 100_000;

  /** Tolerance for {@code exp} and {@code nbf}: the issuer's clock may differ. */
  private static final long SKEW_MS = 30_000;

  /** How often the key set is read again, so that a withdrawn key is refused soon. */
  private static final Duration KEY_SET_REFRESH = Duration.ofMinutes(5);

  private static final Duration FORGET_UNUSED = Duration.ofMinutes(10);
  private static final String SCHEME = "Bearer ";

  private final SignatureCheck signatures;
  private final @Nullable String issuer;
  private final @Nullable String audience;
  private final Clock clock;
  private final Cache<String, Verified> verified;

  private record Verified(Identity identity, Claims claims) {}

  TokenVerifier(SecurityProperties settings, Clock clock) {
    this.issuer = settings.requiredIssuer();
    this.audience = settings.requiredAudience();
    this.clock = clock;
    this.verified =
        Caffeine.newBuilder()
            .maximumSize(MAX_REMEMBERED)
            .expireAfterAccess(FORGET_UNUSED)
            // Callers maintain the cache in small steps: waking a thread pool for each new token
            // costs more.
            .executor(Runnable::run)
            .build();
    this.signatures = signatures(settings, verified::invalidateAll);
  }

  /** A changed key set empties the cache, so that the next use of every token is a full check. */
  private static SignatureCheck signatures(SecurityProperties settings, Runnable onChange) {
    return settings.jwkSetUri().isEmpty()
        ? new Hs256SignatureCheck(settings.secretBytes())
        : new JwkSetSignatureCheck(URI.create(settings.jwkSetUri()), KEY_SET_REFRESH, onChange);
  }

  /**
   * Identifies the caller by the value of the Authorization header.
   *
   * @return null when there is no bearer token, or an invalid one; callers answer 401 without
   *     giving a reason
   */
  public @Nullable Identity identify(@Nullable String authorization) {
    if (authorization == null
        || !authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
      return null;
    }
    return verify(authorization.substring(SCHEME.length()));
  }

  /** As {@link #identify}, for the token itself. */
  @Nullable Identity verify(String token) {
    Verified known = verified.getIfPresent(token);
    if (known == null) {
      known = check(token);
      if (known == null) {
        return null;
      }
      verified.put(token, known);
    }
    return known.claims().isValidAt(clock.millis(), SKEW_MS) ? known.identity() : null;
  }

  @Override
  public void close() {
    signatures.close();
  }

  private @Nullable Verified check(String token) {
    int headerEnd = token.indexOf('.');
    int payloadEnd = token.indexOf('.', headerEnd + 1);
    if (token.length() > MAX_TOKEN_CHARS
        || headerEnd < 1
        || payloadEnd < 0
        || token.indexOf('.', payloadEnd + 1) >= 0
        || !signatures.isGenuine(token, headerEnd, payloadEnd)) {
      return null;
    }
    Claims claims = Claims.parse(token.substring(headerEnd + 1, payloadEnd));
    return claims == null || !isForUs(claims) || !claims.isValidAt(clock.millis(), SKEW_MS)
        ? null
        : new Verified(Identity.of(claims.subject(), claims.scopes()), claims);
  }

  private boolean isForUs(Claims claims) {
    return (issuer == null || issuer.equals(claims.issuer()))
        && (audience == null || claims.audience().contains(audience));
  }
}
