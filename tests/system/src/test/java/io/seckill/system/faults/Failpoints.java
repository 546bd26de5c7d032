package io.seckill.system.faults;

import io.seckill.system.agent.Advised;
import io.seckill.system.process.Service;
import java.util.List;

/** The points in the processing of an order at which a test can stop a process or a thread. */
public final class Failpoints {

  /** Redis has admitted a batch; no shopper has received an answer. */
  static final String ADMITTED_NOT_ANSWERED = "admitted-not-answered";

  /** Orders are in a lane's private queue; none of them has been published. */
  static final String CLAIMED_NOT_PUBLISHED = "claimed-not-published";

  /** The broker has confirmed an order; it is still in the private queue. */
  static final String CONFIRMED_NOT_REMOVED = "confirmed-not-removed";

  /** A consumer's transaction has done everything but its COMMIT. */
  static final String BEFORE_COMMIT = "before-commit";

  /** A batch is committed; its results are not announced and nothing is acked. */
  static final String COMMITTED_NOT_ACKED = "committed-not-acked";

  /** Results of orders are in Redis; the orders are not compensated yet. */
  static final String NOTIFIED_NOT_COMPENSATED = "notified-not-compensated";

  /** Orders are compensated in Redis; MySQL has not marked them yet. */
  static final String COMPENSATED_NOT_MARKED = "compensated-not-marked";

  /** Results are in Redis; nothing is acked. */
  static final String BEFORE_ACK = "before-ack";

  /** A batch is about to be stored. */
  static final String BEFORE_STORE = "before-store";

  /** A transaction of a strong sale has done everything but its COMMIT. */
  static final String STRONG_BEFORE_COMMIT = "strong-before-commit";

  /** A batch of a strong sale is decided and committed; the gateway has no answer yet. */
  static final String STRONG_COMMITTED = "strong-committed";

  /** Payments are committed; the gateway has no answer, Redis has no results. */
  static final String PAYMENTS_COMMITTED = "payments-committed";

  /** A consumer is about to probe whether MySQL accepts writes again. */
  static final String BEFORE_PROBE = "before-probe";

  /** A page of an archive is moved; nothing of it is committed. */
  static final String ARCHIVE_PAGE_MOVED = "archive-page-moved";

  /** All orders of a loading are in Redis; the sale is not on sale. */
  static final String SALE_LOADED = "sale-loaded";

  /** A sale is audited; its audit is not stored. */
  static final String AUDIT_NOT_STORED = "audit-not-stored";

  /** A move has begun: its rows are committed, and no store has changed. */
  static final String MOVE_BEGUN = "move-begun";

  /** Redis has taken the units of a move; MySQL has not. */
  static final String MOVE_TAKEN = "move-taken";

  /** The units of a move are in the pool; no shard is chosen for them. */
  static final String MOVE_POOLED = "move-pooled";

  /** MySQL has given units to a shard; Redis has not. */
  public static final String MOVE_GIVEN = "move-given";

  /** Both stores have given units to a shard; the change is not marked. */
  static final String MOVE_NOT_MARKED = "move-not-marked";

  private static final String MOVES = "io.seckill.consumer.sales.StockMoves";

  private static final Advised PUBLISH =
      Advised.before(CLAIMED_NOT_PUBLISHED, "io.seckill.relay.publish.PublisherChannel", "publish");

  private static final Advised REMOVE =
      Advised.before(CONFIRMED_NOT_REMOVED, "io.seckill.relay.lane.PrivateQueue$Settlement", "add");

  private Failpoints() {}

  static List<Advised> of(Service service) {
    return switch (service) {
      case GATEWAY ->
          List.of(
              Advised.before(
                  ADMITTED_NOT_ANSWERED, "io.seckill.gateway.admission.AdmitAnswers", "answer"),
              PUBLISH,
              REMOVE);
      case RELAY -> List.of(PUBLISH, REMOVE);
      case CONSUMER ->
          List.of(
              Advised.after(BEFORE_COMMIT, "io.seckill.consumer.storage.ProductTable", "progress"),
              Advised.before(COMMITTED_NOT_ACKED, "io.seckill.consumer.intake.Settler", "announce"),
              Advised.before(
                  NOTIFIED_NOT_COMPENSATED,
                  "io.seckill.consumer.orders.Compensations",
                  "deliverChunk"),
              Advised.before(
                  COMPENSATED_NOT_MARKED,
                  "io.seckill.consumer.orders.CompensationTable",
                  "markDone"),
              Advised.before(BEFORE_ACK, "io.seckill.consumer.intake.Settler", "finish"),
              Advised.before(BEFORE_STORE, "io.seckill.consumer.storage.OrderStore", "store"),
              Advised.after(
                  STRONG_BEFORE_COMMIT, "io.seckill.consumer.storage.ProductTable", "takeStrong"),
              Advised.before(
                  STRONG_COMMITTED, "io.seckill.consumer.storage.StrongMetrics", "count"),
              Advised.before(
                  PAYMENTS_COMMITTED, "io.seckill.consumer.payment.ChargeOutcomes", "report"),
              Advised.before(
                  ARCHIVE_PAGE_MOVED, "io.seckill.consumer.archive.ArchiveTable", "moved"),
              Advised.after(SALE_LOADED, "io.seckill.consumer.loading.BucketWriter", "flush"),
              Advised.before(AUDIT_NOT_STORED, "io.seckill.consumer.audit.AuditTable", "keep"),
              Advised.before(MOVE_BEGUN, MOVES, "taken"),
              Advised.before(MOVE_TAKEN, MOVES, "inMySql"),
              Advised.before(MOVE_POOLED, MOVES, "give"),
              Advised.before(MOVE_GIVEN, MOVES, "given"),
              Advised.after(MOVE_NOT_MARKED, MOVES, "given"),
              Advised.before(
                  BEFORE_PROBE, "io.seckill.consumer.storage.DatabaseWriteProbe", "write"));
    };
  }
}
