package io.seckill.consumer.wallet;

import java.util.Currency;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * @param currency of all wallets, ISO 4217
 */
@ConfigurationProperties("seckill.wallet")
record WalletProperties(@DefaultValue("USD") String currency) {

  WalletProperties {
    try {
      Currency.getInstance(currency);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "seckill.wallet.currency must be an ISO 4217 code but is " + currency, e);
    }
  }
}
