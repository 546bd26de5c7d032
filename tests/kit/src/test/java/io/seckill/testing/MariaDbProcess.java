package io.seckill.testing;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** mariadbd with its own data directory, which mariadb-install-db creates in under a second. */
final class MariaDbProcess implements ServerProgram {

  private static final String PACKAGE = "mariadb-server";

  private final Supplier<List<String>> lines;

  /**
   * @param lines lines of the section [mysqld], asked at each start
   */
  MariaDbProcess(Supplier<List<String>> lines) {
    this.lines = lines;
  }

  @Override
  public String name() {
    return "mariadb";
  }

  @Override
  public List<Integer> servicePorts() {
    return List.of(MySqlServer.SERVICE_PORT);
  }

  @Override
  public void prepare(Path home, Ports ports) {
    writeConfiguration(home, ports);
    ServerFiles.write(
        home.resolve("init.sql"),
        List.of(
            // Otherwise a standby would have transactions that its primary does not have.
            "SET SESSION sql_log_bin = OFF;",
            "CREATE USER IF NOT EXISTS 'root'@'%' IDENTIFIED BY '"
                + MySqlServer.ROOT_PASSWORD
                + "';",
            "GRANT ALL ON *.* TO 'root'@'%' WITH GRANT OPTION;"));
    if (!Files.exists(home.resolve("data/mysql"))) {
      install(home);
    }
  }

  private void writeConfiguration(Path home, Ports ports) {
    List<String> configuration =
        new ArrayList<>(
            List.of(
                "[mysqld]",
                "user=" + System.getProperty("user.name"),
                "bind-address=127.0.0.1",
                "port=" + ports.of(MySqlServer.SERVICE_PORT),
                "datadir=" + home.resolve("data"),
                "socket=" + home.resolve("socket"),
                "pid-file=" + home.resolve("mariadbd.pid"),
                "tmpdir=" + home,
                "init-file=" + home.resolve("init.sql"),
                "performance-schema=OFF"));
    configuration.addAll(defaults());
    configuration.addAll(lines.get());
    ServerFiles.write(home.resolve("my.cnf"), configuration);
  }

  /**
   * Settings that the container uses too. A commit is written to the operating system's cache,
   * which survives kill -9.
   */
  static List<String> defaults() {
    return List.of(
        "skip-name-resolve",
        "skip-log-bin",
        "default-time-zone=+00:00",
        "character-set-server=utf8mb4",
        "innodb-buffer-pool-size=64M",
        "innodb-flush-log-at-trx-commit=2");
  }

  /** With the option socket, the installed root has no login over TCP; the one of init.sql has. */
  private static void install(Path home) {
    Commands.run(
        List.of(
            Programs.find("mariadb-install-db", PACKAGE),
            "--no-defaults",
            "--user=" + System.getProperty("user.name"),
            "--datadir=" + home.resolve("data"),
            "--auth-root-authentication-method=socket",
            "--skip-test-db",
            "--skip-name-resolve"),
        // At start mariadbd removes files of other processes from a shared temporary directory.
        Map.of("TMPDIR", home.toString()));
  }

  @Override
  public List<String> command(Path home) {
    return List.of(Programs.find("mariadbd", PACKAGE), "--defaults-file=" + home.resolve("my.cnf"));
  }

  @Override
  public Map<String, String> environment(Path home, Ports ports) {
    return Map.of();
  }
}
