package io.seckill.gateway.web;

import static io.seckill.common.settings.SettingChecks.check;
import static io.seckill.common.settings.SettingChecks.hasCents;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** The currency of all prices, ISO 4217, with two decimals. */
@ConfigurationProperties("seckill.pages")
record PagesProperties(@DefaultValue("USD") String currency) {

  PagesProperties {
    check(
        hasCents(currency),
        "seckill.pages.currency must be an ISO 4217 code with two decimals but is " + currency);
  }
}
