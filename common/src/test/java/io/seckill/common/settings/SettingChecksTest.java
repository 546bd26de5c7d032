package io.seckill.common.settings;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SettingChecksTest {

  @ParameterizedTest
  @ValueSource(strings = {"http://h", "https://h:1/path", "http://[::1]:65535"})
  void takesAnHttpUrl(String url) {
    assertThat(SettingChecks.isHttpUrl(url)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"http://h:0", "http://h:65536", "ftp://h", "http:///path", "http://h h"})
  void refusesWhatNoHttpClientCanCall(String url) {
    assertThat(SettingChecks.isHttpUrl(url)).isFalse();
  }
}
