package io.seckill.consumer.wallet;

import static io.seckill.common.settings.SettingChecks.check;

import io.seckill.support.contract.WalletOperation;
import java.util.Currency;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * @param currency of all wallets, ISO 4217
 * @param demoBalanceCents with which a user without a wallet starts in demo mode, 0..10^16; 0 for
 *     none
 */
@ConfigurationProperties("seckill.wallet")
record WalletProperties(
    @DefaultValue("USD") String currency, @DefaultValue("10000000") long demoBalanceCents) {

  WalletProperties {
    try {
      Currency.getInstance(currency);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "seckill.wallet.currency must be an ISO 4217 code but is " + currency, e);
    }
    check(
        demoBalanceCents >= 0 && demoBalanceCents <= WalletOperation.MAX_AMOUNT_CENTS,
        "seckill.wallet.demo-balance-cents must be 0..10^16 but is " + demoBalanceCents);
  }
}
