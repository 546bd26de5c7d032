package io.seckill.consumer.payment;

import io.seckill.common.payment.PaymentProvider;
import io.seckill.support.web.DemoMode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigureOrder;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Simulates payments in demo mode when no payment provider is installed or asked for, and otherwise
 * refuses the start. An auto-configuration, because it is applied after those of installed
 * providers.
 */
@AutoConfiguration
@AutoConfigureOrder(Ordered.LOWEST_PRECEDENCE)
@ConditionalOnMissingBean(PaymentProvider.class)
final class SimulatedPaymentAutoConfiguration {

  private static final Logger log =
      LoggerFactory.getLogger(SimulatedPaymentAutoConfiguration.class);

  private static final String DEMO = "seckill.demo.enabled";
  private static final String PROVIDER = "seckill.payment.provider";
  private static final String INSTALLED = "installed";

  SimulatedPaymentAutoConfiguration(
      DemoMode demo, Environment environment, ServerProperties server) {
    if (!demo.enabled()) {
      throw refusal(
          DEMO,
          false,
          "no payment provider is installed, and without demo mode none is simulated",
          "true");
    }
    if (environment.matchesProfiles("prod", "production")) {
      throw refusal(DEMO, true, "payments are not simulated under a production profile", "true");
    }
    if (INSTALLED.equals(environment.getProperty(PROVIDER))) {
      throw refusal(PROVIDER, INSTALLED, "no payment provider is installed", "wallet");
    }
    demo.checkAddress(server.getAddress(), "server.address");
    log.warn("DEMO MODE: payments are simulated, nobody is charged");
  }

  private static InvalidConfigurationPropertyValueException refusal(
      String property, Object value, String why, String forDemonstration) {
    return new InvalidConfigurationPropertyValueException(
        property,
        value,
        why
            + ": install a bean of "
            + PaymentProvider.class.getName()
            + ", see docs/payment.md, or for a demonstration set "
            + property
            + "="
            + forDemonstration);
  }

  @Bean
  PaymentProvider simulatedPaymentProvider(JdbcClient book, PaymentProperties properties) {
    return new SimulatedPaymentProvider(book, properties);
  }
}
