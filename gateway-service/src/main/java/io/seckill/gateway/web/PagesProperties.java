package io.seckill.gateway.web;

import java.util.Currency;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** The currency of all prices, ISO 4217. */
@ConfigurationProperties("seckill.pages")
record PagesProperties(@DefaultValue("USD") String currency) {

  PagesProperties {
    try {
      Currency.getInstance(currency);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "seckill.pages.currency must be an ISO 4217 code but is " + currency, e);
    }
  }
}
