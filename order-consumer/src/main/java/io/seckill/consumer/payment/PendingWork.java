package io.seckill.consumer.payment;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.consumer.runtime.Sweeper;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Measures work that should be over within seconds and may stay: number and age of each kind of
 * work that waits in MySQL, for alerts and, on the internal port, for the operations page. Every
 * statement reads an index whose entries are this work only, and at most {@value #MOST} of them.
 * While MySQL is unavailable the last figures stay, and the ages grow.
 */
@RestController
class PendingWork {

  /** Rows read of each kind; a larger number is shown as this. */
  private static final int MOST = 10_000;

  /** Kinds of work, with the statement that selects since when each piece of it waits. */
  enum WorkKind {
    /** Refunds that the provider has not confirmed. */
    REFUNDS(
        "SELECT updated_at AS since FROM payment WHERE state = 'REFUND_DUE'"
            + " ORDER BY updated_at LIMIT :most"),
    /** Units that Redis has not confirmed to have back. */
    COMPENSATIONS(
        "SELECT created_at AS since FROM compensation WHERE done_at IS NULL"
            + " ORDER BY order_id LIMIT :most"),
    /** Orders whose payment time is over and that have not expired. */
    EXPIRIES(
        "SELECT created_at + INTERVAL :timeout MICROSECOND AS since FROM orders"
            + " WHERE status = 'CONFIRMED' AND created_at <= NOW(6) - INTERVAL :timeout MICROSECOND"
            + " ORDER BY created_at LIMIT :most"),
    /** Rows that wait for an operator. */
    UNEXPLAINED_CHARGES(
        "SELECT received_at AS since FROM unexplained_charge WHERE state = 'OPEN'"
            + " ORDER BY id LIMIT :most"),
    /** Archives that are not done, since the last step of any: one goes on after the other. */
    ARCHIVES(
        "MAX",
        "SELECT LEAST(stepped_at, NOW(6)) AS since FROM archive"
            + " WHERE phase IN ('REDIS', 'ORDERS', 'REST') ORDER BY phase LIMIT :most");

    /** Selects of all pieces the time that counts. */
    private final String aggregate;

    private final String statement;

    WorkKind(String statement) {
      this("MIN", statement);
    }

    WorkKind(String aggregate, String statement) {
      this.aggregate = aggregate;
      this.statement = statement;
    }
  }

  /** Work of one kind, and the age of its oldest piece, 0 without any. */
  record Pending(long number, long oldestSeconds) {

    static final Pending NONE = new Pending(0, 0);
  }

  private static final Duration PAUSE = Duration.ofSeconds(10);

  private final JdbcClient jdbc;
  private final long timeoutMicros;
  private volatile Map<WorkKind, Pending> last = new EnumMap<>(WorkKind.class);
  private volatile long readNanos = System.nanoTime();

  PendingWork(JdbcClient jdbc, PaymentProperties properties, MeterRegistry meters) {
    this.jdbc = jdbc;
    this.timeoutMicros = properties.timeout().toMillis() * 1_000;
    for (WorkKind kind : WorkKind.values()) {
      Gauge.builder("seckill.consumer.pending", () -> now(kind).number())
          .description("Work that waits in MySQL, at most 10000 of each kind")
          .tag("work", kind.name())
          .register(meters);
      Gauge.builder("seckill.consumer.pending.age", () -> now(kind).oldestSeconds())
          .description("Age of the oldest of this work")
          .baseUnit("seconds")
          .tag("work", kind.name())
          .register(meters);
    }
  }

  /** The figures of the last reading; ages as of now. */
  @GetMapping("/internal/v1/pending-work")
  Map<WorkKind, Pending> now() {
    Map<WorkKind, Pending> now = new EnumMap<>(WorkKind.class);
    Arrays.stream(WorkKind.values()).forEach(kind -> now.put(kind, now(kind)));
    return now;
  }

  private Pending now(WorkKind kind) {
    Pending read = last.getOrDefault(kind, Pending.NONE);
    long since = Duration.ofNanos(System.nanoTime() - readNanos).toSeconds();
    return read.number() == 0 ? read : new Pending(read.number(), read.oldestSeconds() + since);
  }

  @Bean
  Sweeper pendingWorkSweeper() {
    return new Sweeper("pending-work", PAUSE, this::read);
  }

  void read() {
    Map<WorkKind, Pending> read = new EnumMap<>(WorkKind.class);
    for (WorkKind kind : WorkKind.values()) {
      read.put(kind, read(kind));
    }
    readNanos = System.nanoTime();
    last = read;
  }

  /** Work from a time to come is from before MySQL's clock was set back: it counts as old. */
  private Pending read(WorkKind kind) {
    return jdbc.sql(
            "SELECT COUNT(*), COALESCE(TIMESTAMPDIFF(SECOND, "
                + kind.aggregate
                + "(since), NOW(6)), 0) FROM ("
                + kind.statement
                + ") pending")
        .param("most", MOST)
        .param("timeout", timeoutMicros)
        .query((row, number) -> new Pending(row.getLong(1), Math.abs(row.getLong(2))))
        .single();
  }
}
