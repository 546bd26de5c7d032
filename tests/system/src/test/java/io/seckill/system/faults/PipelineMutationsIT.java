package io.seckill.system.faults;

import static io.seckill.system.process.Service.CONSUMER;
import static io.seckill.system.process.Service.GATEWAY;
import static io.seckill.system.process.Service.RELAY;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.seckill.consumer.ConsumerMutations;
import io.seckill.gateway.GatewayMutations;
import io.seckill.relay.RelayMutations;
import io.seckill.system.process.Service;
import io.seckill.testing.TestServers;
import io.seckill.testing.mutation.Mutation;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.commons.support.ReflectionSupport;

/**
 * Each mutation that loses, oversells or repeats orders makes a row of the fault matrix fail with
 * the complaint of a known guarantee. A run may have several that break guarantees of their own;
 * each of these must complain. The row runs unmodified, in a lab of its own with mutated services.
 * Without the mutation it passes, as a test of the suite.
 */
@Tag("proof")
@ExtendWith(TestServers.class)
class PipelineMutationsIT {

  /** Part of a run's name; only runs with it are executed. */
  private static final String CHOICE = System.getProperty("seckill.mutation", "");

  private static final Path TABLE = Path.of("target", "pipeline-mutations.txt");

  private static final int SHOWN = 200;

  private static final List<String> RESULTS = new ArrayList<>();

  /** A row of the fault matrix: a test method of a class whose constructor takes the lab. */
  record Row(Class<?> test, Method method) {

    private static Row of(Class<?> test, String method) {
      return new Row(test, ReflectionSupport.findMethod(test, method).orElseThrow());
    }

    private void run(FaultLab lab) {
      ReflectionSupport.invokeMethod(method, ReflectionSupport.newInstance(test, lab));
    }

    @Override
    public String toString() {
      return test.getName() + '#' + method.getName();
    }
  }

  /**
   * A row that must fail.
   *
   * @param mutations the mutations of each service
   * @param complaints patterns of the complaints that must be made, each with the name of the
   *     guarantee
   */
  record MutatedRun(
      String name, Map<Service, List<Mutation>> mutations, Row row, List<String> complaints) {

    private static MutatedRun of(String name, Class<?> test, String method) {
      return new MutatedRun(name, Map.of(), Row.of(test, method), List.of());
    }

    private MutatedRun with(Service service, Mutation mutation) {
      Map<Service, List<Mutation>> more = new EnumMap<>(Service.class);
      more.putAll(mutations);
      more.merge(
          service, List.of(mutation), (a, b) -> Stream.of(a, b).flatMap(List::stream).toList());
      return new MutatedRun(name, more, row, complaints);
    }

    /** Its mutations that change code. */
    List<Mutation> changes() {
      return mutations.values().stream()
          .flatMap(List::stream)
          .filter(mutation -> !mutation.edits().isEmpty())
          .toList();
    }

    private MutatedRun caughtBy(String... patterns) {
      return new MutatedRun(name, mutations, row, List.of(patterns));
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private static final Mutation NO_RECONCILIATION =
      Mutation.named("reconciliation never looks").setting("seckill.reconciliation.interval", "1h");

  /** Lost orders, before or after reconciliation has sent them again. */
  private static final String LOSS =
      "NothingRepaired: .*ORDER_SENT_AGAIN|NothingLost: .*promised but nowhere";

  static Stream<MutatedRun> runs() {
    return Stream.of(
        MutatedRun.of(
                "the relay sends one message in 50 nowhere, and the gateway checks no quota",
                BrokerFaultsIT.class,
                "restarted")
            .with(RELAY, RelayMutations.SENT_NOWHERE)
            .with(GATEWAY, GatewayMutations.CHECKS_NO_QUOTA)
            .caughtBy(LOSS, "OutcomesStay: .*status=REJECTED, reason=QUOTA_EXCEEDED"),
        MutatedRun.of(
                "one order in 20 is rejected, counted twice, and asks for one unit",
                BrokerFaultsIT.class,
                "restarted")
            .with(CONSUMER, ConsumerMutations.REJECTS_ONE_IN_20)
            .with(RELAY, RelayMutations.COUNTED_TWICE)
            .with(GATEWAY, GatewayMutations.MESSAGE_OF_ONE_UNIT)
            .with(CONSUMER, NO_RECONCILIATION)
            .caughtBy(
                "OutcomesStay: .*status=REJECTED, reason=QUOTA_EXCEEDED",
                "CountersAgree: .*left a private queue",
                "NothingInvented: ",
                "StoresAgree: .*stock of SKU"),
        MutatedRun.of(
                "one shopper in 25 is refused, others pay twice, and nobody checks the stock",
                BrokerFaultsIT.class,
                "restarted")
            .with(GATEWAY, GatewayMutations.REFUSES_ONE_IN_25)
            .with(CONSUMER, ConsumerMutations.CHARGES_TWICE_THE_PRICE)
            .with(GATEWAY, GatewayMutations.SELLS_WHAT_IS_SOLD_OUT)
            .with(CONSUMER, ConsumerMutations.STOCK_NOT_GUARDED)
            .caughtBy(
                "RefusalsAreTrue: ",
                "StoredOnce: .*cents charged",
                "NeverOversold: .*that shoppers own",
                "AlwaysHolds: I1"),
        MutatedRun.of(
                "removal before confirm, and quota unchecked by anybody",
                BrokerFaultsIT.class,
                "restarted")
            .with(RELAY, RelayMutations.REMOVED_BEFORE_CONFIRM)
            .with(GATEWAY, GatewayMutations.CHECKS_NO_QUOTA)
            .with(CONSUMER, ConsumerMutations.KNOWS_NO_LIMIT)
            .caughtBy(LOSS, "QuotaHeld: .*within the limit of 3", "AlwaysHolds: I2"),
        MutatedRun.of("ack before COMMIT", ConsumerFaultsIT.class, "killedBeforeCommit")
            .with(CONSUMER, ConsumerMutations.ACKED_BEFORE_COMMIT)
            .with(CONSUMER, NO_RECONCILIATION)
            .caughtBy("NothingLost: .*promised but nowhere"),
        MutatedRun.of(
                "units are given back again",
                ConsumerFaultsIT.class,
                "killedBetweenCompensationAndItsMark")
            .with(CONSUMER, ConsumerMutations.COMPENSATED_AGAIN)
            .caughtBy(
                "NothingRepaired: .*STOCK_SET|OutcomesStay: .*SOLD_OUT|StoresAgree: .*stock of SKU"),
        MutatedRun.of(
                "compensations are not noted",
                ConsumerFaultsIT.class,
                "killedBetweenCompensationAndItsMark")
            .with(CONSUMER, ConsumerMutations.COMPENSATION_NOT_NOTED)
            .with(CONSUMER, NO_RECONCILIATION)
            .caughtBy("CompensatedOnce: .*given back in Redis"),
        MutatedRun.of("key not looked up", GatewayFaultsIT.class, "admissionReplyLost")
            .with(GATEWAY, GatewayMutations.KEY_NOT_LOOKED_UP)
            .caughtBy("RequestsKeepTheirOrder: ", "AdmittedOnce: "),
        MutatedRun.of("mandatory off", BrokerFaultsIT.class, "bindingMissing")
            .with(RELAY, RelayMutations.NOT_MANDATORY)
            .caughtBy(LOSS),
        MutatedRun.of("fencing off", RelayFaultsIT.class, "frozenBeyondItsLease")
            .with(RELAY, RelayMutations.FENCED_CLAIMS)
            .with(RELAY, RelayMutations.FENCED_SETTLES)
            .caughtBy("WorksAgain: .*lanes with a lease"),
        MutatedRun.of(
                "useAffectedRows off",
                ConsumerFaultsIT.class,
                "killedBetweenResultCompensationAndItsMark")
            .with(CONSUMER, ConsumerMutations.AFFECTED_ROWS_OFF)
            .caughtBy("QuotaHeld: .*quota of SKU"),
        MutatedRun.of("the ledger shows a unit too many", BrokerFaultsIT.class, "restarted")
            .with(CONSUMER, ConsumerMutations.LEDGER_WITH_A_UNIT_TOO_MANY)
            .caughtBy("LedgerBalances: "),
        MutatedRun.of(
                "a strong sale refuses what it stored, and is compensated",
                StrongSaleFaultsIT.class,
                "mySqlKilled")
            .with(CONSUMER, ConsumerMutations.REFUSES_WHAT_IT_STORED)
            .with(CONSUMER, ConsumerMutations.COMPENSATES_STRONG_SALES)
            .caughtBy(
                "RefusedHasNoOrder: .*QUOTA_EXCEEDED", "OnlyInMySql: .*to be compensated in Redis"),
        MutatedRun.of(
                "a fallback returns all units",
                WithFallbackFaultsIT.class,
                "redisBackWithAllItsData")
            .with(CONSUMER, ConsumerMutations.FALLBACK_RETURNS_ALL_UNITS)
            .with(CONSUMER, NO_RECONCILIATION)
            .caughtBy("PromisesKept: .*promised and rejected"));
  }

  static Stream<MutatedRun> chosen() {
    return runs().filter(run -> run.name().contains(CHOICE));
  }

  @BeforeAll
  static void endTheLabOfOtherClasses() {
    LabExtension.closeAll();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("chosen")
  void isCaught(MutatedRun run) {
    try (FaultLab lab =
        FaultLab.start(
            ServicesUnderTest.mutated(run.mutations()),
            Channel.of(run.row().test()),
            new FaultReport())) {
      BrokenRunError broken = broken(run, lab);
      for (String pattern : run.complaints()) {
        assertThat(broken.complaints())
            .as("complaints about: %s", run)
            .anyMatch(complaint -> complaint.matches("(?s)(" + pattern + ").*"), pattern);
      }
      RESULTS.add(run + "\n" + said(broken));
    }
  }

  /** Returns the violation that the row reports; rethrows any other failure. */
  private static BrokenRunError broken(MutatedRun run, FaultLab lab) {
    try {
      run.row().run(lab);
    } catch (BrokenRunError e) {
      return e;
    }
    return fail("nobody noticed: " + run);
  }

  /** The beginning of the first complaint of each guarantee. */
  private static String said(BrokenRunError broken) {
    Map<String, String> first = new LinkedHashMap<>();
    for (String complaint : broken.complaints()) {
      String text = complaint.lines().map(String::strip).collect(joining(" "));
      first.putIfAbsent(
          complaint.substring(0, Math.max(0, complaint.indexOf(':'))),
          text.substring(0, Math.min(text.length(), SHOWN)));
    }
    String row = broken.getMessage().lines().findFirst().orElseThrow();
    return "  " + row + "\n  " + String.join("\n  ", first.values());
  }

  @AfterAll
  static void report() throws IOException {
    String table = String.join("\n", RESULTS) + "\n";
    System.out.print(table);
    Files.writeString(TABLE, table);
  }
}
