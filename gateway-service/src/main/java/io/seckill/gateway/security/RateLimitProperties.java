package io.seckill.gateway.security;

import static io.seckill.common.settings.SettingChecks.check;

import io.netty.handler.ipfilter.IpFilterRuleType;
import io.netty.handler.ipfilter.IpSubnetFilterRule;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Limits on requests to the shoppers' port, shared by the running gateways: each of N grants 1/N of
 * a rate, and of what is let through at once, but at least one request. A rate of 0 switches a
 * limit off.
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
    trustedProxies.forEach(RateLimitProperties::network);
    trustedProxies = List.copyOf(trustedProxies);
  }

  List<IpSubnetFilterRule> proxies() {
    return trustedProxies.stream().map(RateLimitProperties::network).toList();
  }

  /** Parses {@code address} or {@code address/bits}; host names are never resolved. */
  private static IpSubnetFilterRule network(String text) {
    String[] parts = text.split("/", 2);
    try {
      InetAddress address = NetUtil.createInetAddressFromIpAddressString(parts[0]);
      if (address == null) {
        throw new IllegalArgumentException("not an IP address: " + parts[0]);
      }
      int bits = parts.length == 2 ? Integer.parseInt(parts[1]) : address.getAddress().length * 8;
      return new IpSubnetFilterRule(address, bits, IpFilterRuleType.ACCEPT);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "seckill.limits.trusted-proxies: not a network: " + text, e);
    }
  }
}
