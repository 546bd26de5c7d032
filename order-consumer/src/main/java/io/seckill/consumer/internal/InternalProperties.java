package io.seckill.consumer.internal;

import static io.seckill.common.settings.SettingChecks.check;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * @param token bearer token that callers of {@code /internal/v1} must send, at least 16 characters;
 *     required: the service does not start without it
 * @param maxBody longest request body, 1 KB..1 MB
 */
@ConfigurationProperties("seckill.internal")
record InternalProperties(@Nullable String token, @DefaultValue("16KB") DataSize maxBody) {

  private static final int MIN_TOKEN_LENGTH = 16;

  InternalProperties {
    check(
        token != null && token.length() >= MIN_TOKEN_LENGTH,
        "seckill.internal.token must have 16 characters");
    check(
        maxBody.toBytes() >= 1_024 && maxBody.toBytes() <= 1_048_576,
        "seckill.internal.max-body must be 1KB..1MB");
  }

  String requiredToken() {
    if (token == null) {
      throw new IllegalStateException("the constructor refuses an absent token");
    }
    return token;
  }

  /** Omits the token. */
  @Override
  public String toString() {
    return "InternalProperties[maxBody=" + maxBody + "]";
  }
}
