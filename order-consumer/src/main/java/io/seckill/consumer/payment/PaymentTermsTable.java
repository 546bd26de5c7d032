package io.seckill.consumer.payment;

import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Stores at start how long orders wait for their payment, for the gateways to show to shoppers. */
@Component
@DependsOnDatabaseInitialization
record PaymentTermsTable(JdbcClient jdbc, PaymentProperties properties)
    implements InitializingBean {

  @Override
  public void afterPropertiesSet() {
    jdbc.sql(
            "INSERT INTO payment_terms (id, timeout_ms) VALUES (1, ?)"
                + " ON DUPLICATE KEY UPDATE timeout_ms = VALUES(timeout_ms)")
        .param(properties.timeout().toMillis())
        .update();
  }
}
