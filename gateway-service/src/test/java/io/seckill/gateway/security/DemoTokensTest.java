package io.seckill.gateway.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.gateway.testing.TestTokens;
import java.time.Clock;
import org.junit.jupiter.api.Test;

class DemoTokensTest {

  private static final DemoProperties ON = new DemoProperties(true);

  @Test
  void givesTokensThatTheVerifierTakesForWhomTheyAreFor() {
    SecurityProperties settings = settings(TestTokens.SECRET, "");
    DemoTokens tokens = new DemoTokens(settings, ON, false, Clock.systemUTC());
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
            settings(TestTokens.SECRET, ""), new DemoProperties(false), true, Clock.systemUTC());

    assertThat(tokens.shopper(42)).isNull();
    assertThat(tokens.operator()).isNull();
  }

  @Test
  void refusesToStartUnderAProductionProfileOrWithAKeySet() {
    assertThatThrownBy(
            () -> new DemoTokens(settings(TestTokens.SECRET, ""), ON, true, Clock.systemUTC()))
        .hasMessageContaining("seckill.demo.enabled")
        .hasMessageContaining("production");
    assertThatThrownBy(
            () ->
                new DemoTokens(
                    settings("", "https://issuer.example/keys"), ON, false, Clock.systemUTC()))
        .hasMessageContaining("key set");
  }

  private static SecurityProperties settings(String secret, String jwkSetUri) {
    return new SecurityProperties(secret, jwkSetUri, "*", "*");
  }
}
