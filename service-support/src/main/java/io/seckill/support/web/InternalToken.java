package io.seckill.support.web;

import static io.seckill.common.settings.SettingChecks.check;

import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * The bearer token that the gateway sends to order-consumer's internal port.
 *
 * @param token 16..256 printable ASCII characters; required: the service does not start without it
 */
@ConfigurationProperties("seckill.internal")
public record InternalToken(String token) {

  public InternalToken {
    check(
        token != null && token.matches("[!-~]{16,256}"),
        "seckill.internal.token must be set to 16..256 printable ASCII characters");
  }

  /** Omits the token. */
  @Override
  public String toString() {
    return "InternalToken[***]";
  }
}
