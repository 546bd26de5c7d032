package io.seckill.consumer.storage;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.jdbc.support.KeyHolder;
import org.springframework.stereotype.Component;

/** The table {@code barrier}. A row is of no use after a day and is then deleted. */
@Component
class BarrierTable {

  private final JdbcClient jdbc;

  BarrierTable(JdbcClient jdbc) {
    this.jdbc = jdbc;
  }

  long raise() {
    jdbc.sql("DELETE FROM barrier WHERE raised_at < NOW(6) - INTERVAL 1 DAY").update();
    KeyHolder key = new GeneratedKeyHolder();
    jdbc.sql("INSERT INTO barrier (passed_at) VALUES (NULL)").update(key, "barrier_id");
    Number id = key.getKey();
    if (id == null) {
      throw new IllegalStateException("a barrier without a number");
    }
    return id.longValue();
  }

  void passed(long barrier) {
    jdbc.sql("UPDATE barrier SET passed_at = NOW(6) WHERE barrier_id = ? AND passed_at IS NULL")
        .param(barrier)
        .update();
  }

  boolean hasPassed(long barrier) {
    return jdbc.sql("SELECT COUNT(*) FROM barrier WHERE barrier_id = ? AND passed_at IS NOT NULL")
            .param(barrier)
            .query(Long.class)
            .single()
        == 1;
  }
}
