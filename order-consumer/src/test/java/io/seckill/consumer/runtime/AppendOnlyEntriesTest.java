package io.seckill.consumer.runtime;

import static org.assertj.core.api.Assertions.assertThatNoException;

import io.seckill.consumer.runtime.DatabaseStartupWait.AppendOnlyEntries;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

class AppendOnlyEntriesTest {

  /** As a server with a binary log may refuse the triggers. */
  @Test
  void aServerThatRefusesTheTriggersDoesNotEndTheStart() {
    DriverManagerDataSource refusing =
        new DriverManagerDataSource("jdbc:mysql://127.0.0.1:1/none?connectTimeout=500");

    assertThatNoException().isThrownBy(() -> AppendOnlyEntries.protect(refusing));
  }
}
