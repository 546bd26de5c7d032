package io.seckill.gateway.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.util.NetUtil;
import io.seckill.gateway.security.RateLimits.TokenBuckets;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RateLimitsTest {

  private long nanos = 1;
  private int gateways = 1;

  @Test
  void letsABurstThroughAndThenTheRate() {
    RateLimits limits = limits(2, 3, 0, List.of());

    assertThat(taken(limits, 10)).isEqualTo(3);
    nanos += Duration.ofMillis(500).toNanos();
    assertThat(taken(limits, 10)).isEqualTo(1);
    nanos += Duration.ofSeconds(2).toNanos();
    assertThat(taken(limits, 10)).isEqualTo(3);
    assertThat(limits.admitsUser(8)).as("another user").isTrue();
  }

  @Test
  void grantsItsShareOfTheNumberOfGatewaysThatRunNow() {
    RateLimits limits = limits(4, 8, 0, List.of());

    gateways = 2;
    assertThat(taken(limits, 10)).as("half of 8 at once").isEqualTo(4);
    nanos += Duration.ofSeconds(1).toNanos();
    assertThat(taken(limits, 10)).as("half of 4 a second").isEqualTo(2);
    gateways = 1;
    assertThat(taken(limits, 10)).as("a gateway that stops leaves no tokens behind").isZero();
    nanos += Duration.ofSeconds(2).toNanos();
    assertThat(taken(limits, 10)).isEqualTo(8);
    nanos += Duration.ofSeconds(2).toNanos();
    gateways = 4;
    assertThat(taken(limits, 10)).as("a full bucket shrinks").isEqualTo(2);
  }

  @Test
  void grantsAtLeastOneAtOnceAndNoHigherRateHoweverManyGatewaysRun() {
    gateways = 256;
    RateLimits limits = limits(1, 2, 0, List.of());

    assertThat(taken(limits, 10)).isEqualTo(1);
    nanos += Duration.ofSeconds(255).toNanos();
    assertThat(taken(limits, 10)).as("the key is not removed early").isZero();
    nanos += Duration.ofSeconds(1).toNanos();
    assertThat(taken(limits, 10)).isEqualTo(1);
  }

  @Test
  void limitsNobodyWhenSwitchedOff() {
    RateLimits limits = limits(0, 1, 0, List.of());

    assertThat(taken(limits, 1_000)).isEqualTo(1_000);
    assertThat(limits.admitsAddress(peer("10.0.0.1"), List.of())).isTrue();
  }

  @Test
  void remembersNoMoreUsersThanItMay() {
    TokenBuckets buckets = new TokenBuckets(0.001, 1, 100, () -> 1, () -> nanos);
    for (int user = 0; user < 100_000; user++) {
      buckets.take(user);
    }

    assertThat(buckets.size()).isLessThanOrEqualTo(100);
  }

  @Test
  void countsAWholeNetworkOfIpv6AsOneAddress() {
    RateLimits limits = limits(0, 1, 1, List.of());

    assertThat(limits.admitsAddress(peer("2001:db8:1:2::1"), List.of())).isTrue();
    assertThat(limits.admitsAddress(peer("2001:db8:1:2:ffff::9"), List.of())).isFalse();
    assertThat(limits.admitsAddress(peer("2001:db8:1:3::1"), List.of())).isTrue();
    assertThat(limits.admitsAddress(peer("10.0.0.1"), List.of())).isTrue();
    assertThat(limits.admitsAddress(peer("10.0.0.1"), List.of())).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "9.9.9.9, '1.1.1.1', 9.9.9.9",
    "10.0.0.1, '1.1.1.1', 1.1.1.1",
    "10.0.0.1, '1.1.1.1,2.2.2.2', 2.2.2.2",
    "10.0.0.1, '1.1.1.1, 10.0.0.7', 1.1.1.1",
    "10.0.0.1, '1.1.1.1, 9.9.9.9 , 10.0.0.7', 9.9.9.9",
    "10.0.0.1, '', 10.0.0.1",
    "10.0.0.1, 'localhost', 10.0.0.1",
    "10.0.0.1, '1.1.1.1, nonsense', 10.0.0.1",
    "::1, '2001:db8::5', 2001:db8::5",
    "10.0.0.1, '1.1.1.1:40001', 1.1.1.1",
    "10.0.0.1, '1.1.1.1:40001, 10.0.0.7:443', 1.1.1.1",
    "10.0.0.1, '[2001:db8::5]:40001', 2001:db8::5",
    "10.0.0.1, '[2001:db8::5]', 2001:db8::5",
    "10.0.0.1, '1.1.1.1:', 10.0.0.1",
    "10.0.0.1, '[1.1.1.1', 10.0.0.1"
  })
  void believesForwardedAddressesFromTrustedProxiesOnly(
      String peer, String forwarded, String client) {
    RateLimits limits = limits(0, 1, 1, List.of("10.0.0.0/8", "::1"));

    assertThat(limits.client(peer(peer).getAddress(), List.of(forwarded)))
        .isEqualTo(peer(client).getAddress());
  }

  @Test
  void readsSeveralForwardedHeadersAsOneList() {
    RateLimits limits = limits(0, 1, 1, List.of("10.0.0.0/8"));
    InetAddress proxy = peer("10.0.0.1").getAddress();

    assertThat(limits.client(proxy, List.of("1.1.1.1", "2.2.2.2")).getHostAddress())
        .isEqualTo("2.2.2.2");
    assertThat(limits.client(proxy, List.of())).isEqualTo(proxy);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "localhost",
        "10.0.0.0/33",
        "10.0.0.0/-1",
        "10.0.0.0/x",
        "10.0.0.0/",
        "10.0.0.0/8/8",
        "10.0.0/8",
        "/",
        "/8",
        "",
        "::1/129"
      })
  void refusesToStartWithANetworkThatIsNone(String network) {
    assertThatThrownBy(() -> limits(0, 1, 1, List.of(network)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("seckill.limits.trusted-proxies: not a network: " + network);
  }

  /** A bucket that is full again after centuries. */
  @ParameterizedTest
  @CsvSource({"0.2, 2147483647", "1e-300, 1"})
  void takesTheLongestTimeOfABucket(double perSecond, int burst) {
    RateLimits limits = limits(perSecond, burst, 0, List.of());

    assertThat(limits.admitsUser(7)).isTrue();
    nanos += Duration.ofDays(1).toNanos();
    assertThat(limits.admitsUser(7)).isEqualTo(burst > 1);
  }

  private int taken(RateLimits limits, int tries) {
    int taken = 0;
    for (int i = 0; i < tries; i++) {
      taken += limits.admitsUser(7) ? 1 : 0;
    }
    return taken;
  }

  private RateLimits limits(
      double perSecond, int burst, double addressPerSecond, List<String> proxies) {
    return new RateLimits(
        new RateLimitProperties(perSecond, burst, addressPerSecond, 1, proxies),
        () -> gateways,
        () -> nanos);
  }

  private static InetSocketAddress peer(String address) {
    InetAddress parsed = NetUtil.createInetAddressFromIpAddressString(address);
    assertThat(parsed).isNotNull();
    return new InetSocketAddress(parsed, 1);
  }
}
