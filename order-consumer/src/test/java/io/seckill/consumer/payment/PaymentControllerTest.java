package io.seckill.consumer.payment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;

class PaymentControllerTest {

  @Test
  void leavesAConnectionToOperatorsOrStopsTheStart() {
    HikariDataSource pool = new HikariDataSource(); // never connects
    pool.setMaximumPoolSize(2);
    assertThat(PaymentController.lockWaits(pool).<Integer>within(() -> 1)).isEqualTo(1);

    pool.setMaximumPoolSize(1);
    assertThatThrownBy(() -> PaymentController.lockWaits(pool))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("spring.datasource.hikari.maximum-pool-size must be at least 2");
  }
}
