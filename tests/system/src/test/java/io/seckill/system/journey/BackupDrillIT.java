package io.seckill.system.journey;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.system.faults.LabExtension;
import io.seckill.system.process.Service;
import io.seckill.system.shop.AdminClient;
import io.seckill.system.shop.Answer;
import io.seckill.system.shop.ShopClient;
import io.seckill.system.shop.ShopTokens;
import io.seckill.testing.Bounded;
import io.seckill.testing.Eventually;
import io.seckill.testing.Ports;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Loses the data of a pipeline of {@code scripts/up} during a sale, and restores them with {@code
 * scripts/backup} and {@code scripts/restore}.
 */
@Tag("proof")
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class BackupDrillIT {

  private static final Path ROOT = Path.of(System.getProperty("seckill.root"));
  private static final Pattern PORT = Pattern.compile("(?m)^([A-Z0-9_]+) +\\d{5} ");
  private static final DateTimeFormatter SECONDS =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss").withZone(ZoneOffset.UTC);
  private static final long SKU = 1001;
  private static final int SHOPPERS = 2;
  private static final int ENOUGH = 20;
  private static final long LONGEST_COMMAND_MINUTES = 10;

  /** Short, because the path of a socket may have 107 bytes. */
  @TempDir Path folder;

  private final Map<String, String> ports = new HashMap<>();
  private final AtomicLong nextUser = new AtomicLong(1);

  /** Order id by user, as answered "queued". */
  private final Map<Long, String> accepted = new ConcurrentHashMap<>();

  private Path tree;
  private Path backup;

  @BeforeAll
  static void endTheLabOfOtherClasses() {
    LabExtension.closeAll();
  }

  /** A clone by links, with a {@code .local} and ports of its own. */
  @BeforeEach
  void cloneByLinks() throws IOException {
    tree = Files.createDirectory(folder.resolve("tree"));
    backup = folder.resolve("backup");
    try (Stream<Path> entries = Files.list(ROOT)) {
      for (Path entry : entries.toList()) {
        Path copy = tree.resolve(entry.getFileName());
        if (Files.isRegularFile(entry)) { // not by link: scripts/up asks when the pom has changed
          Files.copy(entry, copy, StandardCopyOption.COPY_ATTRIBUTES);
        } else if (!Set.of(".local", ".git").contains(entry.getFileName().toString())) {
          Files.createSymbolicLink(copy, entry);
        }
      }
    }
    // Each has the time of its release, and scripts/up would build it again beside other tests.
    for (Service service : Service.values()) {
      Files.setLastModifiedTime(service.jar(), FileTime.from(Instant.now()));
    }
    PORT.matcher(Files.readString(ROOT.resolve("scripts/lib/settings.sh")))
        .results()
        .forEach(
            port -> ports.put("SECKILL_" + port.group(1) + "_PORT", String.valueOf(Ports.free())));
  }

  @AfterEach
  void stop() throws Exception {
    script("down", "--wipe", "--yes");
    try (Stream<Path> entries = Files.list(tree)) { // else the deletion of the folder warns
      for (Path link : entries.filter(Files::isSymbolicLink).toList()) {
        Files.delete(link);
      }
    }
  }

  /** Everything is lost; a new installation continues the sale as MySQL had it at a moment. */
  @Test
  void restoresAnEmptyInstallationInMidSale() throws Exception {
    script("up");
    Set<String> before;
    Set<String> stored;
    Instant until;
    try (Crowd crowd = new Crowd()) {
      crowd.buys(100);
      script("backup", backup.toString());
      Eventually.eventually().until(() -> orders().size() > 100);
      before = orders().keySet();
      until = Instant.now().truncatedTo(ChronoUnit.SECONDS).plusSeconds(2);
      Eventually.eventually().until(() -> Instant.now().isAfter(until.plusSeconds(1)));
      int then = orders().size();
      Eventually.eventually().until(() -> orders().size() > then + 50);
      stored = orders().keySet();
      script("backup", backup.toString());
      crowd.buys(50);
      script("kill", "mysql");
    }
    script("down", "--wipe", "--yes");

    script("up", "--servers");
    script("restore", backup.toString(), "--until", SECONDS.format(until));
    Set<String> restored = orders().keySet();
    String said = script("up");

    Set<String> named = named();
    assertThat(restored).as("what MySQL had before %s", until).containsAll(before);
    assertThat(named).as("what came after").isNotEmpty().doesNotContainAnyElementsOf(restored);
    Set<String> known = new TreeSet<>(restored);
    known.addAll(named);
    assertThat(known).as("what MySQL had at the last backup").containsAll(stored);
    assertThat(said).contains("sale of SKU 1001 in Redis: REBUILT").contains("is CONFIRMED");
    repeatsGetTheirOrders(restored);
    balanced();
  }

  /** MySQL's disk is lost, and Redis still has what MySQL committed after the last backup. */
  @Test
  void getsBackFromRedisWhatTheBackupLacks() throws Exception {
    script("up");
    try (Crowd crowd = new Crowd()) {
      crowd.buys(100);
      script("backup", backup.toString());
      Eventually.eventually().until(() -> orders().size() > 200);
      script("backup", backup.toString());
      crowd.buys(100);
    }
    Eventually.eventually().until(() -> orders().keySet().containsAll(accepted.values()));
    long payer = Collections.max(accepted.keySet());
    String paid = accepted.get(payer);
    Eventually.eventually().until(() -> shop().pay(payer, paid).status() == 200);
    script("kill", "mysql");
    script("down");
    Files.move(tree.resolve(".local/data/mysql"), folder.resolve("lost-disk"));

    script("up", "--servers");
    script("restore", backup.toString());
    Set<String> restored = orders().keySet();
    assertThat(restored).as("the backup is older").doesNotContain(paid).hasSizeGreaterThan(200);
    script("up");

    // The others are stored after the script has ended; the schedule may compare meanwhile.
    Eventually.eventually("only what is not sent again to be missing")
        .until(this::missing, Set.of(paid)::equals);
    Eventually.eventually()
        .until(
            () -> admin().reconcile(SKU).toString(),
            report -> report.contains("ORDER_NOT_IN_MYSQL") && report.contains(paid));
    givesUp(paid);
    balanced();
  }

  /** The report of a repair, as scripts/up makes one, is no consent. */
  private void givesUp(String paid) throws IOException {
    AdminClient admin = admin();
    Eventually.eventually().until(() -> admin.close(SKU).status() == 200);
    Eventually.eventually().until(() -> admin.preheat(SKU).code(), "ORDERS_IN_FLIGHT"::equals);
    Eventually.eventually()
        .until(() -> admin.reconcile(SKU, true).toString(), report -> report.contains(paid));
    Eventually.eventually().until(() -> admin.preheat(SKU).status() == 200);
  }

  private Set<String> missing() throws IOException, SQLException {
    Set<String> missing = new TreeSet<>(accepted.values());
    missing.removeAll(orders().keySet());
    return missing;
  }

  /** The documented command, while a shopper buys and pays until the gateway has stopped. */
  @Test
  void takesEveryPaymentAlongWhenItMoves() throws Exception {
    Matcher move =
        Pattern.compile("takes MySQL along:\n```\n(.+)\n")
            .matcher(Files.readString(ROOT.resolve("docs/runbooks.md")));
    assertThat(move.find()).isTrue();
    script("up");
    Set<String> paid = ConcurrentHashMap.newKeySet();
    AtomicBoolean stopped = new AtomicBoolean();
    ShopClient shop = shop();
    CompletableFuture<Void> shopper =
        CompletableFuture.runAsync(
            () -> {
              while (!stopped.get()) {
                try {
                  buyAndPay(shop, paid, stopped);
                } catch (RuntimeException e) {
                  if (paid.size() > ENOUGH) {
                    return; // the gateway has stopped
                  }
                }
              }
            },
            task -> new Thread(task).start());
    Eventually.eventually().until(() -> paid.size() > ENOUGH);
    try {
      run(move.group(1).replace("/tmp/move", backup.toString()));
    } finally {
      stopped.set(true);
    }
    Eventually.eventually().until(shopper::isDone);
    script("down", "--wipe", "--yes");
    script("up", "--servers");
    script("restore", backup.toString());

    Map<String, String> orders = orders();
    assertThat(paid).allSatisfy(order -> assertThat(orders).containsEntry(order, "PAID"));
  }

  private void buyAndPay(ShopClient shop, Set<String> paid, AtomicBoolean stopped) {
    long user = nextUser.getAndIncrement();
    // Not patiently: the gateway does not come back.
    Answer answer = Bounded.get(shop.buyAsync(user, SKU, 1, key(user)));
    boolean pays = answer.status() == 202;
    while (pays && !stopped.get()) {
      if (shop.pay(user, answer.text("orderId")).status() == 200) {
        paid.add(answer.text("orderId"));
        pays = false;
      }
    }
  }

  private void repeatsGetTheirOrders(Set<String> restored) throws IOException {
    ShopClient shop = shop();
    accepted.forEach(
        (user, order) -> {
          if (restored.contains(order)) {
            assertThat(shop.buy(user, SKU, 1, key(user)).text("orderId")).isEqualTo(order);
          }
        });
  }

  private void balanced() throws IOException {
    AdminClient admin = admin();
    Eventually.eventually()
        .until(() -> admin.ledger(SKU).json().path("balanced").asBoolean(), Boolean.TRUE::equals);
  }

  /** Status by order id. */
  private Map<String, String> orders() throws IOException, SQLException {
    Map<String, String> orders = new TreeMap<>();
    Properties env = env();
    String url =
        env.getProperty("MYSQL_URL").replace("mysql://", "jdbc:mysql://") + "?connectTimeout=2000";
    try (Connection mysql =
            DriverManager.getConnection(
                url, env.getProperty("MYSQL_USER"), env.getProperty("MYSQL_PASSWORD"));
        Statement select = mysql.createStatement();
        ResultSet rows = select.executeQuery("SELECT order_id, status FROM orders")) {
      while (rows.next()) {
        orders.put(rows.getString(1), rows.getString(2));
      }
    }
    return orders;
  }

  private Set<String> named() throws IOException {
    Set<String> named = new TreeSet<>();
    List<String> lines = Files.readAllLines(backup.resolve("not-restored.tsv"));
    lines.stream().skip(1).forEach(line -> named.add(line.substring(0, line.indexOf('\t'))));
    return named;
  }

  private ShopClient shop() throws IOException {
    return new ShopClient(env().getProperty("GATEWAY_URL"), tokens());
  }

  private AdminClient admin() throws IOException {
    return new AdminClient(env().getProperty("ADMIN_URL"), tokens());
  }

  private ShopTokens tokens() throws IOException {
    return new ShopTokens(env().getProperty("HS256_SECRET"));
  }

  private Properties env() throws IOException {
    Properties env = new Properties();
    try (var reader = Files.newBufferedReader(tree.resolve(".local/env"))) {
      env.load(reader);
    }
    return env;
  }

  private static String key(long user) {
    return "drill-of-" + user;
  }

  private String script(String name, String... arguments) throws Exception {
    return run("scripts/" + name + Stream.of(arguments).map(" '%s'"::formatted).collect(joining()));
  }

  /** Runs a command in the tree, which must succeed, and returns its output. */
  private String run(String command) throws Exception {
    Path output = folder.resolve("command.out");
    ProcessBuilder builder =
        new ProcessBuilder("bash", "-c", command)
            .directory(tree.toFile())
            .redirectErrorStream(true);
    builder.environment().putAll(ports);
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    Process process = builder.redirectOutput(output.toFile()).start();
    process.getOutputStream().close();
    boolean ended = process.waitFor(LONGEST_COMMAND_MINUTES, TimeUnit.MINUTES);
    process.destroyForcibly();
    String said = Files.readString(output);
    assertThat(ended && process.exitValue() == 0).as("%s: %s", command, said).isTrue();
    return said;
  }

  /** Shoppers who buy one unit each, one after the other, until this is closed. */
  private final class Crowd implements AutoCloseable {

    private final AtomicBoolean ends = new AtomicBoolean();
    private final List<CompletableFuture<Void>> shoppers = new ArrayList<>();

    Crowd() throws IOException {
      ShopClient shop = shop();
      for (int i = 0; i < SHOPPERS; i++) {
        shoppers.add(CompletableFuture.runAsync(() -> buy(shop), task -> new Thread(task).start()));
      }
    }

    private void buy(ShopClient shop) {
      while (!ends.get()) {
        long user = nextUser.getAndIncrement();
        Answer answer = shop.buy(user, SKU, 1, key(user));
        if (answer.status() == 202) {
          accepted.put(user, answer.text("orderId"));
        }
      }
    }

    /** Waits until so many more have been accepted. */
    void buys(int more) {
      int wanted = accepted.size() + more;
      Eventually.eventually().until(() -> accepted.size() >= wanted);
    }

    @Override
    public void close() {
      ends.set(true);
      Eventually.eventually().until(() -> shoppers.stream().allMatch(CompletableFuture::isDone));
    }
  }
}
