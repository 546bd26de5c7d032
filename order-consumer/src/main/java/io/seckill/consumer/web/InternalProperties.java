package io.seckill.consumer.web;

import static io.seckill.common.settings.SettingChecks.check;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * @param maxBody longest request body, 1 KB..1 MB
 */
@ConfigurationProperties("seckill.internal")
record InternalProperties(@DefaultValue("16KB") DataSize maxBody) {

  InternalProperties {
    check(
        maxBody.toBytes() >= 1_024 && maxBody.toBytes() <= 1_048_576,
        "seckill.internal.max-body must be 1KB..1MB");
  }
}
