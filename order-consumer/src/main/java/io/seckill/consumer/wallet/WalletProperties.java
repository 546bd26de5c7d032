package io.seckill.consumer.wallet;

import static io.seckill.common.settings.SettingChecks.check;
import static io.seckill.common.settings.SettingChecks.hasCents;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * @param currency of all wallets, ISO 4217, with two decimals
 */
@ConfigurationProperties("seckill.wallet")
record WalletProperties(@DefaultValue("USD") String currency) {

  WalletProperties {
    check(
        hasCents(currency),
        "seckill.wallet.currency must be an ISO 4217 code with two decimals but is " + currency);
  }
}
