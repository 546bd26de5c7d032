package io.seckill.consumer.runtime;

import java.time.Duration;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * How long MySQL keeps a connection without a statement before it closes it, with its locks and its
 * transaction. The pools' own value is short, so that a process that is suspended soon holds
 * nothing. Work that pauses for longer sets its own value, and restores the old one before the
 * connection returns to the pool.
 */
record WaitTimeout(JdbcClient connection, long before) {

  /**
   * @param silence whole seconds, at least 1
   */
  static WaitTimeout set(JdbcClient connection, Duration silence) {
    long before = connection.sql("SELECT @@SESSION.wait_timeout").query(Long.class).single();
    WaitTimeout set = new WaitTimeout(connection, before);
    set.seconds(silence.toSeconds());
    return set;
  }

  void restore() {
    seconds(before);
  }

  private void seconds(long seconds) {
    connection.sql("SET SESSION wait_timeout = " + seconds).update();
  }
}
