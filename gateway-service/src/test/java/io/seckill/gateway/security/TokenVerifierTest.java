package io.seckill.gateway.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.gateway.testing.TestTokens;
import io.seckill.testing.LoggedLines;
import java.time.Clock;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TokenVerifierTest {

  private static final long NOW_S = 1_800_000_000L;

  private Instant now = Instant.ofEpochSecond(NOW_S);
  private final Clock clock = ((InstantSource) () -> now).withZone(ZoneOffset.UTC);
  private final TokenVerifier verifier =
      new TokenVerifier(secret(TestTokens.SECRET), new WarmUpKey(), clock);

  @Test
  void namesTheShopperOfAGenuineToken() {
    Identity identity = verifier.identify("Bearer " + TestTokens.shopper(42));

    assertThat(identity).isEqualTo(new Identity(42, "42", java.util.Set.of()));
    assertThat(verifier.identify("bearer " + TestTokens.shopper(42))).isEqualTo(identity);
  }

  @Test
  void namesAnOperatorWhoseSubjectIsNoNumber() {
    Identity identity = verifier.verify(TestTokens.operator("alice@example.com"));

    assertThat(identity).isNotNull();
    assertThat(identity.isOperator()).isTrue();
    assertThat(identity.isShopper()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"1", "9223372036854775807"})
  void takesDecimalSubjectsForShoppers(String subject) {
    assertThat(verify(subject).isShopper()).isTrue();
    assertThat(verify(subject).userId()).isEqualTo(Long.parseLong(subject));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0",
        "-1",
        "+1",
        "01",
        "1.0",
        " 1",
        "9223372036854775808",
        "99999999999999999999",
        "12a",
        "{0}"
      })
  void takesNoOtherSubjectForAShopper(String subject) {
    assertThat(verify(subject).isShopper()).isFalse();
  }

  @Test
  void refusesATokenFromTheMomentItExpiresEvenWhenItIsRemembered() {
    String token = TestTokens.signed("{\"sub\":\"1\",\"exp\":" + (NOW_S + 60) + "}");
    assertThat(verifier.verify(token)).isNotNull();

    now = Instant.ofEpochSecond(NOW_S + 89);
    assertThat(verifier.verify(token)).as("within the allowed clock skew").isNotNull();
    now = Instant.ofEpochSecond(NOW_S + 90);
    assertThat(verifier.verify(token)).isNull();
  }

  @Test
  void forgetsATokenWhoseKeyIsWithdrawn() {
    WarmUpKey key = new WarmUpKey();
    SecurityProperties settings = secret(TestTokens.SECRET);
    TokenVerifier changing = new TokenVerifier(settings, key, clock);
    String token = TokenSigner.sign(settings, key.pair(), "1", null, now.plusSeconds(60));
    assertThat(changing.verify(token)).isNotNull();

    key.forget();
    changing.useOtherKeys();

    assertThat(changing.verify(token)).isNull();
  }

  @Test
  void doesNotRememberATokenWhoseKeyIsWithdrawnWhileItIsChecked() {
    WarmUpKey key = new WarmUpKey();
    SecurityProperties settings = secret(TestTokens.SECRET);
    AtomicReference<Runnable> duringCheck = new AtomicReference<>(() -> {});
    TokenVerifier changing = new TokenVerifier(settings, key, running(duringCheck));
    String token = TokenSigner.sign(settings, key.pair(), "1", null, now.plusSeconds(60));
    duringCheck.set(
        () -> {
          key.forget();
          changing.useOtherKeys();
        });

    changing.verify(token);

    assertThat(changing.verify(token)).isNull();
  }

  @Test
  void refusesATokenBeforeItsTime() {
    String token =
        TestTokens.signed(
            "{\"sub\":\"1\",\"nbf\":" + (NOW_S + 31) + ",\"exp\":" + (NOW_S + 90) + "}");

    assertThat(verifier.verify(token)).isNull();
    now = Instant.ofEpochSecond(NOW_S + 1);
    assertThat(verifier.verify(token)).isNotNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"alg\":\"none\"}",
        "{\"alg\":\"HS384\"}",
        "{\"alg\":\"RS256\"}",
        "{\"alg\":\"hs256\"}",
        "{\"typ\":\"JWT\"}",
        "{\"alg\":\"HS256\",\"alg\":\"none\"}",
        "{\"alg\":\"HS256\",\"crit\":[\"b64\"],\"b64\":false}",
        "[\"HS256\"]",
        "null",
        "not json"
      })
  void refusesEveryAlgorithmButItsOwn(String header) {
    String claims = "{\"sub\":\"1\",\"exp\":" + (NOW_S + 60) + "}";

    assertThat(verifier.verify(TestTokens.signed(header, claims, TestTokens.SECRET))).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"exp\":1900000000}",
        "{\"sub\":\"\",\"exp\":1900000000}",
        "{\"sub\":1,\"exp\":1900000000}",
        "{\"sub\":\"1\"}",
        "{\"sub\":\"1\",\"exp\":null}",
        "{\"sub\":\"1\",\"exp\":\"1900000000\"}",
        "{\"sub\":\"1\",\"exp\":-1}",
        "{\"sub\":\"1\",\"exp\":1e999999999}",
        "{\"sub\":\"1\",\"sub\":\"2\",\"exp\":1900000000}",
        "{\"sub\":\"1\",\"exp\":1900000000} trailing",
        "\"1\"",
        "null",
        ""
      })
  void refusesClaimsItCannotRelyOn(String claims) {
    assertThat(verifier.verify(TestTokens.signed(claims))).isNull();
  }

  @Test
  void refusesAForgedOrDamagedToken() {
    String good = TestTokens.shopper(7);
    String other = TestTokens.shopper(8);
    String signature = good.substring(good.lastIndexOf('.'));

    assertThat(verifier.verify(other.substring(0, other.lastIndexOf('.')) + signature)).isNull();
    assertThat(verifier.verify(good.substring(0, good.length() - 1))).isNull();
    assertThat(verifier.verify(good + "A")).isNull();
    assertThat(verifier.verify(good + "=")).isNull();
    assertThat(verifier.verify(good + " ")).isNull();
    assertThat(verifier.verify(" " + good)).isNull();
    assertThat(verifier.verify(good + ".x")).isNull();
    assertThat(verifier.verify(good.substring(0, good.lastIndexOf('.') + 1))).isNull();
    assertThat(verifier.verify("..")).isNull();
    assertThat(verifier.verify("")).isNull();
    assertThat(verifier.verify("a".repeat(20_000))).isNull();
    assertThat(
            verifier.verify(
                TestTokens.signed("{\"alg\":\"HS256\"}", "{\"sub\":\"1\"}", "x".repeat(32))))
        .isNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "Bearer", "Bearer ", "Basic dTpw", "x"})
  void refusesOtherWaysOfAuthorization(String header) {
    assertThat(verifier.identify(header)).isNull();
    assertThat(verifier.identify(null)).isNull();
  }

  @Test
  void insistsOnIssuerAndAudienceWhenTheyAreConfigured() {
    TokenVerifier strict = strict();
    String rest = ",\"sub\":\"1\",\"exp\":1900000000}";

    assertThat(
            strict.verify(
                TestTokens.signed("{\"iss\":\"https://idp\",\"aud\":[\"x\",\"shop\"]" + rest)))
        .isNotNull();
    assertThat(strict.verify(TestTokens.signed("{\"iss\":\"https://idp\",\"aud\":\"x\"" + rest)))
        .isNull();
    assertThat(strict.verify(TestTokens.signed("{\"iss\":\"other\",\"aud\":\"shop\"" + rest)))
        .isNull();
    assertThat(strict.verify(TestTokens.shopper(1))).isNull();
  }

  /** For the first hour with an issuer; no answer has the reason. */
  @Test
  void logsWhyItRefusesATokenUnlessItHasExpired() {
    TokenVerifier strict = strict();
    String ours = "{\"iss\":\"https://idp\",\"aud\":\"shop\"";
    String rest = ",\"sub\":\"1\",\"exp\":1900000000}";
    List<String> tokens =
        List.of(
            TestTokens.signed("{\"alg\":\"HS256\"}", ours + rest, "x".repeat(32)),
            TestTokens.signed("{\"iss\":\"other\",\"aud\":\"shop\"" + rest),
            TestTokens.signed("{\"iss\":\"https://idp\",\"aud\":[\"x\"]" + rest),
            TestTokens.signed(ours + ",\"nbf\":1850000000" + rest),
            TestTokens.signed(ours + ",\"sub\":\"1\"}"),
            TestTokens.signed(ours + ",\"exp\":1900000000}"),
            TestTokens.signed(ours + ",\"sub\":\"1\",\"exp\":1700000000}"));
    try (LoggedLines lines = LoggedLines.of(TokenVerifier.class)) {
      tokens.forEach(token -> assertThat(strict.verify(token)).isNull());

      assertThat(lines.texts())
          .containsExactly(
              "a token is refused: its alg, kid or signature fits no key",
              "a token is refused: its iss is not seckill.security.issuer",
              "a token is refused: its aud is not seckill.security.audience",
              "a token is refused: its nbf is in the future",
              "a token is refused: it is no JWT, or lacks sub or exp, or has a wrong claim");
    }
  }

  private TokenVerifier strict() {
    return new TokenVerifier(
        new SecurityProperties(TestTokens.SECRET, "", "https://idp", "shop"),
        new WarmUpKey(),
        clock);
  }

  /** As identity providers issue them to a user with many roles; headers bound the length. */
  @ParameterizedTest
  @ValueSource(ints = {4_097, 12_000, 20_000})
  void takesLongTokens(int chars) {
    String roles = "r".repeat(chars * 3 / 4);
    String token =
        TestTokens.signed("{\"sub\":\"7\",\"roles\":\"" + roles + "\",\"exp\":1900000000}");

    assertThat(token).hasSizeGreaterThan(chars);
    assertThat(verifier.verify(token)).isNotNull();
  }

  @ParameterizedTest
  @CsvSource({
    "'', '', false",
    "https://idp, '', false",
    "'', shop, false",
    "https://idp, shop, true",
    "*, shop, true",
    "https://idp, *, true",
    "*, *, true"
  })
  void wantsToKnowWhoseTokensAKeySetIsFor(String issuer, String audience, boolean starts) {
    ThrowingCallable start = () -> new SecurityProperties("", "https://idp/keys", issuer, audience);

    if (starts) {
      assertThatCode(start).doesNotThrowAnyException();
    } else {
      assertThatThrownBy(start)
          .hasMessageContaining(
              "seckill.security.issuer and seckill.security.audience must be set");
    }
  }

  @Test
  void acceptsAnyIssuerAndAudienceOnRequest() {
    TokenVerifier any =
        new TokenVerifier(
            new SecurityProperties(TestTokens.SECRET, "", "*", "*"), new WarmUpKey(), clock);

    assertThat(
            any.verify(
                TestTokens.signed(
                    "{\"iss\":\"x\",\"aud\":\"y\",\"sub\":\"1\",\"exp\":1900000000}")))
        .isNotNull();
    assertThat(any.verify(TestTokens.shopper(1))).isNotNull();
  }

  @Test
  void doesNotStartWithoutAProperSecret() {
    assertThatThrownBy(() -> secret(""))
        .hasMessageContaining("either hs256-secret or jwk-set-uri must be set");
    assertThatThrownBy(() -> secret("x".repeat(31))).hasMessageContaining("at least 32 bytes");
    assertThat(secret(TestTokens.SECRET)).asString().doesNotContain(TestTokens.SECRET);
  }

  private Identity verify(String subject) {
    return verifier.verify(
        TestTokens.signed("{\"sub\":\"" + subject + "\",\"exp\":" + (NOW_S + 60) + "}"));
  }

  /** The same time; the first who asks for it runs this before, once. */
  private Clock running(AtomicReference<Runnable> first) {
    InstantSource source =
        () -> {
          first.getAndSet(() -> {}).run();
          return now;
        };
    return source.withZone(ZoneOffset.UTC);
  }

  private static SecurityProperties secret(String secret) {
    return new SecurityProperties(secret, "", "", "");
  }
}
