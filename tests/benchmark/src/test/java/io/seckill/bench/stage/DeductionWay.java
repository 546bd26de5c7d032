package io.seckill.bench.stage;

import io.seckill.bench.baseline.BatchDeductor;
import io.seckill.bench.baseline.DeductingClients;
import io.seckill.bench.baseline.Deductor;
import io.seckill.bench.baseline.LeaseDeductor;
import io.seckill.bench.baseline.RowDeductor;
import io.seckill.bench.baseline.RowDeductor.Guard;
import io.seckill.bench.baseline.ScriptDeductor;
import io.seckill.bench.lab.CpuTimes;
import io.seckill.bench.lab.FundedUsers;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.StoredRows;
import io.seckill.bench.report.Figures;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A way to charge wallets without the services: clients call the store themselves. */
enum DeductionWay {
  LOCK("SELECT FOR UPDATE"),
  VERSION("version and retry"),
  CONDITION("conditional update"),
  BATCHES("batches"),
  /** What it has not written when the last client is answered is no defect of this benchmark. */
  SCRIPT("Redis script, list and worker"),
  LEASE("balance leased in advance");

  private final String title;

  DeductionWay(String title) {
    this.title = title;
  }

  String title() {
    return title;
  }

  /** Whether every accepted charge is in MySQL when it is answered. */
  boolean isStored() {
    return this != SCRIPT && this != LEASE;
  }

  void measure(Lab lab, Figures figures, String key, int users, int clients) throws Exception {
    Duration run = lab.settings().seconds(6, 3);
    try (FundedUsers funded = new FundedUsers(lab, users);
        StoredRows rows = new StoredRows(lab.mysql());
        @Nullable Deductor shared = shared(lab, funded)) {
      Deductor.Opener deductors =
          () -> shared == null ? ofOneClient(lab) : deduction -> shared.deduct(deduction);
      long lockWaits = rows.rowLockWaits();
      CpuTimes before = CpuTimes.now();
      DeductingClients.Result result =
          DeductingClients.run(clients, run, deductors, funded.users(), WalletStage.CHARGES);
      before.addSince(figures, key + "per_s", result.accepted());
      figures.add(key + "per_s", result.acceptedPerSecond());
      figures.add(key + "p50_ms", result.percentileMs(50));
      figures.add(key + "p99_ms", result.percentileMs(99));
      figures.add(
          key + "lock_waits",
          (rows.rowLockWaits() - lockWaits) / (double) Math.max(1, result.accepted()));
      figures.add(
          key + "busy_percent",
          100.0 * (result.answers() - result.accepted()) / Math.max(1, result.answers()));
      if (isStored()) {
        funded.count(figures, WalletStage.NAME, result.accepted());
      } else if (shared instanceof LeaseDeductor lease) {
        figures.count(key + "gone", lease.unspent());
      } else {
        figures.count(key + "gone", result.accepted() - funded.charges());
      }
    }
  }

  /** Null for a way in which every client has a deductor of its own. */
  private @Nullable Deductor shared(Lab lab, FundedUsers funded) throws SQLException {
    return switch (this) {
      case BATCHES -> new BatchDeductor(lab);
      case SCRIPT -> new ScriptDeductor(lab, funded.users(), FundedUsers.CENTS);
      case LEASE -> new LeaseDeductor(lab);
      default -> null;
    };
  }

  private Deductor ofOneClient(Lab lab) throws SQLException {
    Guard guard = this == VERSION ? Guard.VERSION : this == LOCK ? Guard.LOCK : Guard.CONDITION;
    return new RowDeductor(lab.mysql(), guard);
  }
}
