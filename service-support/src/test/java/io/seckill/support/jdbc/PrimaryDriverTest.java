package io.seckill.support.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PrimaryDriverTest {

  /** By default, Connector/J waits without end for a server that has lost its power. */
  @ParameterizedTest
  @CsvSource({
    "/s, /s?connectTimeout=2000&socketTimeout=10000",
    "/s?sslMode=DISABLED, /s?sslMode=DISABLED&connectTimeout=2000&socketTimeout=10000",
    "/s?SocketTimeout=5000, /s?SocketTimeout=5000&connectTimeout=2000",
    "/s?a=1&connecttimeout=1&sockettimeout=0, /s?a=1&connecttimeout=1&sockettimeout=0",
  })
  void addsTheTimeOutsThatTheUrlLacks(String given, String used) {
    assertThat(PrimaryDriver.singleHosts("jdbc:mysql://a:1,b:2" + given))
        .containsExactly("jdbc:mysql://a:1" + used, "jdbc:mysql://b:2" + used);
  }
}
