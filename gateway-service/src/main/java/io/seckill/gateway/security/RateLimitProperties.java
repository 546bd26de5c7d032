package io.seckill.gateway.security;

import static io.seckill.common.settings.SettingChecks.check;

import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Limits on requests to the shoppers' port, counted by each gateway separately; a rate of 0
 * switches a limit off.
 *
 * @param userPerSecond requests a second with one user's token, 0..1,000,000
 * @param userBurst how many at once, from 1
 * @param addressPerSecond requests a second from one address (IPv6: one /64), with or without a
 *     token, 0..1,000,000; off by default, because thousands of a carrier's shoppers may share one
 *     address
 * @param addressBurst how many at once, from 1
 * @param trustedProxies networks ({@code 10.0.0.0/8}, {@code ::1/128}) whose X-Forwarded-For is
 *     trusted; it is ignored from all other addresses
 */
@ConfigurationProperties("seckill.limits")
record RateLimitProperties(
    @DefaultValue("50") double userPerSecond,
    @DefaultValue("200") int userBurst,
    @DefaultValue("0") double addressPerSecond,
    @DefaultValue("200") int addressBurst,
    @DefaultValue List<String> trustedProxies) {

  private static final double MAX_RATE = 1_000_000;

  RateLimitProperties {
    check(
        userPerSecond >= 0 && userPerSecond <= MAX_RATE,
        "seckill.limits.user-per-second must be 0..1000000");
    check(
        addressPerSecond >= 0 && addressPerSecond <= MAX_RATE,
        "seckill.limits.address-per-second must be 0..1000000");
    check(userBurst >= 1, "seckill.limits.user-burst must be at least 1");
    check(addressBurst >= 1, "seckill.limits.address-burst must be at least 1");
    trustedProxies.forEach(Network::parse);
    trustedProxies = List.copyOf(trustedProxies);
  }

  List<Network> proxies() {
    return trustedProxies.stream().map(Network::parse).toList();
  }
}
