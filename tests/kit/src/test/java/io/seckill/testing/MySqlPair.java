package io.seckill.testing;

import static io.seckill.testing.Eventually.eventually;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/**
 * A MariaDB primary and its semi-synchronous standby, with the settings of {@code deploy/mysql}; a
 * COMMIT returns when the standby has it on disk, and waits while there is no standby. Does what
 * {@code scripts/up --ha} and {@code scripts/promote} do. Child processes only. The servers are
 * killed and frozen as a {@link MySqlServer}, but not wiped.
 */
public final class MySqlPair implements AutoCloseable {

  private final List<MySqlServer> servers = new ArrayList<>();
  private final AtomicInteger nextDatabase = new AtomicInteger();

  /** Index of the primary, also while it is down. */
  private volatile int primary;

  private MySqlPair(List<String> lines) {
    for (int i = 0; i < 2; i++) {
      int index = i;
      servers.add(
          MySqlServer.on(new ProcessMachine(new MariaDbProcess(() -> settings(index, lines)))));
    }
  }

  /**
   * Starts both, and waits until the standby follows.
   *
   * @param lines lines of the section [mariadb] for both; they override the shipped ones
   */
  public static MySqlPair start(String... lines) {
    MySqlPair pair = new MySqlPair(List.of(lines));
    try {
      pair.heal();
      return pair;
    } catch (RuntimeException | Error e) {
      pair.close();
      throw e;
    }
  }

  private List<String> settings(int index, List<String> lines) {
    List<String> settings = new ArrayList<>(DeployedSettings.mysqlHa());
    settings.addAll(lines);
    settings.add("server_id = " + (index + 1));
    settings.addAll(
        index == primary
            ? List.of(
                "read_only = OFF", "init_rpl_role = MASTER", "rpl_semi_sync_master_enabled = ON")
            : List.of("read_only = ON", "init_rpl_role = SLAVE"));
    return settings;
  }

  /** The server that accepts writes, or has last accepted them. */
  public MySqlServer primary() {
    return servers.get(primary);
  }

  /** The other server; after a promotion, the former primary. */
  public MySqlServer standby() {
    return servers.get(1 - primary);
  }

  /**
   * Creates an empty database and its user as {@link MySqlServer#newDatabase()} does.
   *
   * @return the database on the present primary; see {@link MySqlDatabase#on} and {@link #jdbcUrl}
   */
  public MySqlDatabase newDatabase() {
    String name = "p" + nextDatabase.incrementAndGet();
    MySqlServer server = primary();
    MySqlDatabase database = new MySqlDatabase(server.host(), server.port(), name, name, name);
    server.recreate(database);
    return database;
  }

  /** Most connections of the user of this database, on each server, as in users.sql. */
  public void limitConnections(MySqlDatabase database, int most) {
    String user = "'" + database.username() + "'@'%'";
    primary().execute("ALTER USER " + user + " WITH MAX_USER_CONNECTIONS " + most);
  }

  /** As {@link MySqlDatabase#jdbcUrl()} with both hosts, for the driver of our services. */
  public String jdbcUrl(MySqlDatabase database) {
    return MySqlServer.jdbcUrl(
        servers.stream().map(MySqlServer::address).collect(Collectors.joining(",")),
        database.name());
  }

  /**
   * Stops the standby from receiving, so that every COMMIT waits, until {@link #heal()}. A standby
   * that is only frozen receives, once it is resumed, what is in its socket: also from a primary
   * that was killed meanwhile.
   */
  public void stopReceiving() {
    standby().execute("STOP SLAVE IO_THREAD");
  }

  /**
   * Lets the standby receive and not confirm, so that every COMMIT waits, until {@link #heal()}.
   */
  public void stopConfirming() {
    stopReceiving();
    standby().execute("SET GLOBAL rpl_semi_sync_slave_enabled = OFF");
    standby().execute("START SLAVE IO_THREAD");
  }

  /**
   * Kills the primary, and makes the running standby the primary when it has applied everything
   * that it has received. It waits for no standby until {@link #rejoin()}.
   */
  public synchronized void promote() {
    primary().kill();
    MySqlServer next = standby();
    next.execute("STOP SLAVE IO_THREAD");
    awaitApplied(next, next.value("SHOW SLAVE STATUS", "Gtid_IO_Pos"));
    next.execute("STOP SLAVE");
    next.execute("RESET SLAVE ALL");
    next.execute("SET GLOBAL rpl_semi_sync_master_enabled = OFF, GLOBAL read_only = OFF");
    primary = 1 - primary;
  }

  /**
   * Starts the former primary as the standby of the promoted one. It forgets what it wrote and the
   * other had not received. From here on a COMMIT waits for it.
   */
  public void rejoin() {
    heal();
  }

  /**
   * Resumes both, starts those that have ended as what they are now, and returns when the standby
   * has applied everything and COMMIT waits for it.
   */
  public synchronized void heal() {
    servers.forEach(MySqlServer::thaw);
    TestServer.launchAll(servers);
    follow();
  }

  private void follow() {
    MySqlServer standby = standby();
    standby.execute("STOP SLAVE");
    standby.execute(
        """
        CHANGE MASTER TO MASTER_HOST='%s', MASTER_PORT=%d, MASTER_USER='root', MASTER_PASSWORD='%s',
          MASTER_CONNECT_RETRY=1, MASTER_USE_GTID=slave_pos, MASTER_DEMOTE_TO_SLAVE=1\
        """
            .formatted(primary().host(), primary().port(), MySqlServer.ROOT_PASSWORD));
    standby.execute("SET GLOBAL rpl_semi_sync_slave_enabled = ON");
    standby.execute("START SLAVE");
    primary().execute("SET GLOBAL rpl_semi_sync_master_enabled = ON");
    // Until the standby has it, what was committed without a standby is on one server only.
    awaitApplied(standby, primary().value("SELECT @@gtid_binlog_pos AS position", "position"));
  }

  private static void awaitApplied(MySqlServer standby, String position) {
    String missing = "SELECT MASTER_GTID_WAIT('" + position + "', 1) AS missing";
    eventually("the standby to apply " + position)
        .until(() -> standby.value(missing, "missing").equals("0"));
  }

  @Override
  public void close() {
    servers.forEach(MySqlServer::close);
  }
}
