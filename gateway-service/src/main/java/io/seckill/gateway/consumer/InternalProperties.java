package io.seckill.gateway.consumer;

import static io.seckill.common.settings.SettingChecks.check;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The shared token with which the services authenticate to each other.
 *
 * @param token at least 16 printable ASCII characters; required
 */
@ConfigurationProperties("seckill.internal")
record InternalProperties(@DefaultValue("") String token) {

  InternalProperties {
    check(
        token.matches("[!-~]{16,256}"),
        "seckill.internal.token must be set to 16..256 printable ASCII characters");
  }

  /** Omits the token. */
  @Override
  public String toString() {
    return "InternalProperties[***]";
  }
}
