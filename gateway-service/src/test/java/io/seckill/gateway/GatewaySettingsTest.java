package io.seckill.gateway;

import io.seckill.testing.SettingsContract;
import org.junit.jupiter.api.Test;

class GatewaySettingsTest {

  @Test
  void areRefusedByTheirFullNamesWhenTheyAreBad() {
    SettingsContract.refusesBadValuesByFullName(
        "seckill.admission.answer-within",
        "seckill.limits.user-per-second",
        "seckill.shutdown.delay");
  }
}
