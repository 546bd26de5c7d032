package io.seckill.gateway.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.gateway.testing.TestTokens;
import io.seckill.support.web.DemoMode;
import java.time.Clock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.mock.env.MockEnvironment;

class DemoTokensTest {

  private static final DemoMode ON = new DemoMode(true, false);

  @Test
  void givesTokensThatTheVerifierTakesForWhomTheyAreFor() {
    SecurityProperties settings = settings(TestTokens.SECRET, "");
    DemoTokens tokens = new DemoTokens(settings, ON, new MockEnvironment());
    try (TokenVerifier verifier = new TokenVerifier(settings, new WarmUpKey(), Clock.systemUTC())) {
      Identity shopper = verifier.verify(tokens.shopper(42).token());
      Identity operator = verifier.verify(tokens.operator().token());

      assertThat(shopper.userId()).isEqualTo(42);
      assertThat(shopper.isOperator()).isFalse();
      assertThat(operator.isOperator()).isTrue();
      assertThat(operator.isShopper()).isFalse();
    }
  }

  @Test
  void givesNoneWhenItIsOff() {
    DemoTokens tokens =
        new DemoTokens(
            settings(TestTokens.SECRET, ""), new DemoMode(false, false), profile("prod"));

    assertThat(tokens.shopper(42)).isNull();
    assertThat(tokens.operator()).isNull();
  }

  @Test
  void refusesToStartWithAKeySet() {
    assertThatThrownBy(
            () ->
                new DemoTokens(
                    settings("", "https://issuer.example/keys"), ON, new MockEnvironment()))
        .hasMessageContaining("seckill.demo.enabled")
        .hasMessageContaining("key set");
  }

  @ParameterizedTest
  @ValueSource(strings = {"prod", "production"})
  void refusesToStartUnderEitherProfileOfProduction(String profile) {
    SecurityProperties settings = settings(TestTokens.SECRET, "");

    assertThatThrownBy(() -> new DemoTokens(settings, ON, profile(profile)))
        .hasMessageContaining("seckill.demo.enabled")
        .hasMessageContaining("production profile");
  }

  private static MockEnvironment profile(String name) {
    MockEnvironment environment = new MockEnvironment();
    environment.setActiveProfiles(name);
    return environment;
  }

  private static SecurityProperties settings(String secret, String jwkSetUri) {
    return new SecurityProperties(secret, jwkSetUri, "*", "*");
  }
}
