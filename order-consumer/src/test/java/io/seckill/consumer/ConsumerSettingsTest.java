package io.seckill.consumer;

import io.seckill.testing.SettingsContract;
import org.junit.jupiter.api.Test;

class ConsumerSettingsTest {

  @Test
  void areRefusedByTheirFullNamesWhenTheyAreBad() {
    SettingsContract.refusesBadValuesByFullName(
        "seckill.broker.heartbeat",
        "seckill.intake.batch",
        "seckill.payment.simulated-decline-from-cents");
  }
}
