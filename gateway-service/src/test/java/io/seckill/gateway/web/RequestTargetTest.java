package io.seckill.gateway.web;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RequestTargetTest {

  @ParameterizedTest
  @CsvSource(
      delimiterString = " -> ",
      value = {
        "/ -> /",
        "/api/v1/skus?a=b&c=d?e -> /api/v1/skus?a=b&c=d?e",
        "http://shop.example/api/v1/skus -> /api/v1/skus",
        "HTTPS://shop.example:443/api -> /api",
        "http://[2001:db8::1]:8080/api -> /api",
        "http://shop.example -> /",
        "http://shop.example?a=b -> /?a=b",
        "/%61pi/v%31/skus -> /api/v1/skus",
        "/a%2fb/%7B1%7d -> /a%2Fb/%7B1%7D",
        "/skus;a=b/1001;c/orders?x=a;b -> /skus/1001/orders?x=a;b",
        "/skus?q=a|b{}[]^`\\%22\"<> -> /skus?q=a%7Cb%7B%7D%5B%5D%5E%60%5C%22%22%3C%3E",
        "/skus?off=50% -> /skus?off=50%25",
        "/skus?off=5%zz -> /skus?off=5%25zz",
        "/skus?q=\u00C3\u00A9 -> /skus?q=%C3%A9",
      })
  void hasOneForm(String target, String form) {
    assertThat(RequestTarget.normalized("GET", target)).isEqualTo(form);
    assertThat(RequestTarget.normalized("GET", form)).as("once more").isEqualTo(form);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "*",
        "api/v1/skus",
        "shop.example:80",
        "ftp://shop.example/api",
        "http:///api",
        "http://user@shop.example/api",
        "http://shop.example:99999/api",
        "/api#top",
        "/api\u0001",
        "/api\u007F",
      })
  void isNothingElse(String target) {
    assertThat(RequestTarget.normalized("GET", target)).isNull();
  }

  @Test
  void mayBeTheServerItself() {
    assertThat(RequestTarget.normalized("OPTIONS", "*")).isEqualTo("/");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "x", "x:", "x:80", "shop_1.example:65535", "127.0.0.1", "[::1]:80"})
  void isOfAHost(String host) {
    assertThat(RequestTarget.isHost(host)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a b", "x/y", "u@x", ":80", "x:0", "x:65536", "x:8a", "x:1:2", "[::1", "[::1]x", "\u00E9"
      })
  void isOfNoOtherHost(String host) {
    assertThat(RequestTarget.isHost(host)).isFalse();
  }
}
