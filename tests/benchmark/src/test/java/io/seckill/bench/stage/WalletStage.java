package io.seckill.bench.stage;

import io.seckill.bench.baseline.DeductingClients;
import io.seckill.bench.baseline.ScriptDeductor;
import io.seckill.bench.lab.FundedUsers;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.Waiting;
import io.seckill.bench.lab.Work;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.system.load.LoadPlan;
import io.seckill.system.process.Service;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The known ways to charge wallets, in turns: from a row lock per charge to order-consumer's
 * batches over HTTP; and what the usual recipe loses.
 */
final class WalletStage implements Stage {

  static final String NAME = "wallet";

  /** Ids of charges, which no order has: an order's id begins with its time. */
  static final AtomicLong CHARGES = new AtomicLong(1_000_000_000);

  private static final List<Integer> USERS = List.of(1, 1_000, 100_000);
  private static final List<Integer> CLIENTS = List.of(64, 256);

  /** Calls of so many operations have fewer connections. */
  private static final int FULL_CALL = 512;

  private static final int FULL_CALLS_AT_ONCE = 8;
  private static final int PER_SECOND = 2_000;
  private static final Duration PAUSE = Duration.ofSeconds(5);
  private static final String TRIMMED = NAME + ".script_lost_while_the_worker_paused";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public boolean isOnRequest() {
    return true;
  }

  /** Where a figure of so many users and clients is. */
  private static String key(String way, int users, int clients) {
    return NAME + "." + way.toLowerCase(Locale.ROOT) + "_" + users + "_" + clients + "_";
  }

  @Override
  public void measure(Lab lab, Figures figures) throws Exception {
    lab.runOnly(Service.CONSUMER); // creates the tables
    Figures notKept = new Figures();
    for (DeductionWay way : DeductionWay.values()) {
      lab.progress().now("wallet: warming up " + way.title());
      way.measure(lab, notKept, "", 1_000, 64);
    }
    calls(lab, notKept, 1, 1_000, 64);
    List<Work> measures = new ArrayList<>();
    for (int users : USERS) {
      for (int clients : CLIENTS) {
        for (DeductionWay way : DeductionWay.values()) {
          measures.add(() -> direct(lab, figures, way, users, clients));
        }
        measures.add(() -> calls(lab, figures, 1, users, clients));
      }
      measures.add(() -> calls(lab, figures, FULL_CALL, users, FULL_CALLS_AT_ONCE));
    }
    measures.add(() -> atARate(lab, figures));
    measures.add(() -> pauseWorker(lab, figures));
    lab.settings().repeatInTurns(measures);
    AfterSale.measureWithOther(lab, figures, NAME);
  }

  private static void direct(Lab lab, Figures figures, DeductionWay way, int users, int clients)
      throws Exception {
    lab.progress().now("wallet: %s, %d users".formatted(way.title(), users));
    way.measure(lab, figures, key(way.name(), users, clients), users, clients);
  }

  private static void calls(Lab lab, Figures figures, int perCall, int users, int connections)
      throws Exception {
    lab.progress().now("wallet: HTTP, %d a call, %d users".formatted(perCall, users));
    int calls = lab.settings().choose(120_000, 40_000) / perCall;
    new WalletCalls(lab, figures, perCall)
        .measure(
            key("http" + perCall, users, connections), users, connections, calls, LoadPlan.ASAP);
  }

  private static void atARate(Lab lab, Figures figures) throws Exception {
    lab.progress().now("wallet: HTTP at a rate");
    int calls = PER_SECOND * lab.settings().choose(10, 4);
    new WalletCalls(lab, figures, 1)
        .measure(key("rate", 1_000, PER_SECOND), 1_000, 256, calls, PER_SECOND);
  }

  /** The worker rests for some seconds under load, then moves all that the list still has. */
  private static void pauseWorker(Lab lab, Figures figures) throws Exception {
    lab.progress().now("wallet: the worker of the script pauses");
    try (FundedUsers funded = new FundedUsers(lab, 1_000);
        ScriptDeductor script = new ScriptDeductor(lab, funded.users(), FundedUsers.CENTS)) {
      script.pauseWorker(true);
      DeductingClients.Result result =
          DeductingClients.run(
              64, PAUSE, () -> deduction -> script.deduct(deduction), funded.users(), CHARGES);
      script.pauseWorker(false);
      Waiting.until("the list to be empty", Duration.ofMillis(100), () -> script.waiting() == 0);
      figures.count(TRIMMED, result.accepted() - funded.charges());
    }
  }

  @Override
  public List<Row> rows() {
    List<Row> rows = new ArrayList<>();
    for (int users : USERS) {
      for (int clients : CLIENTS) {
        for (DeductionWay way : DeductionWay.values()) {
          String key = key(way.name(), users, clients);
          String text = way.title() + ", " + users + " users, " + clients + " clients: ";
          addRate(rows, text, key);
          rows.add(Row.of(text + "row lock waits per charge", key + "lock_waits"));
          rows.add(Row.of(text + "not accepted", key + "busy_percent"));
          if (!way.isStored()) {
            rows.add(Row.of(text + "in no row or store at the last answer", key + "gone"));
          }
        }
        addHttp(rows, 1, users, clients);
      }
      addHttp(rows, FULL_CALL, users, FULL_CALLS_AT_ONCE);
    }
    String paced = key("rate", 1_000, PER_SECOND);
    addRate(rows, "wallet over HTTP at 2 000/s, 1000 users: ", paced);
    rows.add(Row.of("orders paid by another provider", AfterSale.paidByOther(NAME)));
    rows.add(Row.of("script: lost while its worker paused for 5 s", TRIMMED));
    for (String defect : List.of("lost", "doubled", "broken_guarantees")) {
      rows.add(Row.of("wallet: " + defect.replace('_', ' '), NAME + "." + defect));
    }
    return rows;
  }

  private static void addHttp(List<Row> rows, int perCall, int users, int connections) {
    String key = key("http" + perCall, users, connections);
    String text =
        "wallet over HTTP, %d a call, %d users, %d connections: "
            .formatted(perCall, users, connections);
    addRate(rows, text, key);
    rows.add(Row.of(text + "not accepted", key + "refused"));
  }

  private static void addRate(List<Row> rows, String text, String key) {
    rows.add(Row.of(text + "charges", key + "per_s"));
    rows.add(Row.of(text + "p50", key + "p50_ms"));
    rows.add(Row.of(text + "p99", key + "p99_ms"));
  }
}
