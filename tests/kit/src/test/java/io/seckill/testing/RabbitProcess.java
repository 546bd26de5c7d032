package io.seckill.testing;

import static io.seckill.testing.Eventually.eventually;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * rabbitmq-server, run by the user of this JVM. It has its own directories, Erlang cookie and name
 * server, so it has no contact with other Erlang nodes of this machine.
 */
final class RabbitProcess implements ServerProgram {

  private static final String PACKAGE = "rabbitmq-server";

  /** The port between Erlang nodes, used by rabbitmqctl. */
  private static final int DISTRIBUTION_PORT = 25672;

  private static final AtomicInteger NEXT = new AtomicInteger();

  private final String node;
  private final String cookie;
  private final List<String> lines;

  /**
   * @param node a name of {@link #newNode()}
   * @param cookie the same for all nodes of a cluster; a secret, as it permits everything on a node
   */
  RabbitProcess(String node, String cookie, List<String> lines) {
    this.node = node;
    this.cookie = cookie;
    this.lines = lines;
  }

  /** An Erlang name that no other node of this JVM's name server has. */
  static String newNode() {
    return "test-" + NEXT.incrementAndGet() + "@localhost";
  }

  @Override
  public String name() {
    return "rabbitmq";
  }

  @Override
  public List<Integer> servicePorts() {
    return List.of(
        RabbitServer.SERVICE_PORT,
        RabbitServer.MANAGEMENT_PORT,
        RabbitServer.METRICS_PORT,
        DISTRIBUTION_PORT);
  }

  /** Checks that the package is installed before it uses anything of Erlang. */
  @Override
  public void prepare(Path home, Ports ports) {
    Programs.find("rabbitmq-server", PACKAGE);
    writeConfiguration(home, ports);
    writeCookie(home.resolve(".erlang.cookie"));
    ServerFiles.write(home.resolve("advanced.config"), advancedDefaults());
    ServerFiles.write(
        home.resolve("enabled_plugins"), List.of("[rabbitmq_management, rabbitmq_prometheus]."));
  }

  private void writeConfiguration(Path home, Ports ports) {
    List<String> configuration =
        new ArrayList<>(
            List.of(
                "listeners.tcp.1 = 127.0.0.1:" + ports.of(RabbitServer.SERVICE_PORT),
                "management.tcp.ip = 127.0.0.1",
                "management.tcp.port = " + ports.of(RabbitServer.MANAGEMENT_PORT),
                "prometheus.tcp.ip = 127.0.0.1",
                "prometheus.tcp.port = " + ports.of(RabbitServer.METRICS_PORT)));
    configuration.addAll(defaults());
    configuration.addAll(lines);
    ServerFiles.write(home.resolve("rabbitmq.conf"), configuration);
  }

  /** Erlang refuses a cookie that others may read. */
  private void writeCookie(Path file) {
    if (!Files.exists(file)) {
      ServerFiles.write(file, List.of(cookie));
      file.toFile().setReadable(false, false);
      file.toFile().setReadable(true, true);
      file.toFile().setWritable(false);
    }
  }

  /** Settings that the container uses too. */
  static List<String> defaults() {
    return List.of(
        "default_user = " + RabbitServer.USER,
        "default_pass = " + RabbitServer.PASSWORD,
        "heartbeat = 10",
        "disk_free_limit.absolute = 1MB");
  }

  /**
   * Settings that the container uses too. Quorum queues report their counters at this tick, every 5
   * s by default.
   */
  static List<String> advancedDefaults() {
    return List.of("[{rabbit, [{quorum_tick_interval, 250}]}].");
  }

  @Override
  public List<String> command(Path home) {
    return List.of(Programs.find("rabbitmq-server", PACKAGE));
  }

  /** The first two entries disable the configuration of an installed system service. */
  @Override
  public Map<String, String> environment(Path home, Ports ports) {
    return Map.ofEntries(
        Map.entry("RABBITMQ_CONF_ENV_FILE", "/dev/null"),
        Map.entry("RABBITMQ_CONFIG_FILES", home.resolve("none") + "/*.conf"),
        Map.entry("RABBITMQ_CONFIG_FILE", home.resolve("rabbitmq.conf").toString()),
        Map.entry("RABBITMQ_ADVANCED_CONFIG_FILE", home.resolve("advanced.config").toString()),
        Map.entry("RABBITMQ_ENABLED_PLUGINS_FILE", home.resolve("enabled_plugins").toString()),
        Map.entry("RABBITMQ_MNESIA_BASE", home.resolve("data").toString()),
        Map.entry("RABBITMQ_LOG_BASE", home.resolve("data/log").toString()),
        Map.entry("RABBITMQ_LOGS", "-"),
        Map.entry("RABBITMQ_NODENAME", node),
        Map.entry("RABBITMQ_DIST_PORT", String.valueOf(ports.of(DISTRIBUTION_PORT))),
        Map.entry(
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", "-kernel inet_dist_use_interface {127,0,0,1}"),
        Map.entry("RABBITMQ_CTL_ERL_ARGS", "-dist_listen false"),
        Map.entry("ERL_EPMD_PORT", String.valueOf(ErlangNameServer.port())),
        Map.entry("ERL_EPMD_ADDRESS", "127.0.0.1"),
        Map.entry("HOME", home.toString()));
  }

  /**
   * The epmd (Erlang name server) of all RabbitMQ nodes of this JVM. Without it the first node
   * would start an epmd daemon on the port that all Erlang nodes of the machine share, and leave it
   * behind.
   */
  private static final class ErlangNameServer {

    private static final int SERVICE_PORT = 4369;

    private ErlangNameServer() {}

    /** Returns its port. The first call starts it, and it runs until the JVM ends. */
    static int port() {
      return Holder.PORT;
    }

    private static final class Holder {
      private static final int PORT = start();
    }

    private static int start() {
      int port = Ports.free(List.of(SERVICE_PORT)).of(SERVICE_PORT);
      Path home = RunDirectory.newHome("epmd");
      String epmd = Programs.find("epmd", "erlang-base");
      ChildProcess.start(
          home,
          List.of(epmd, "-port", String.valueOf(port), "-address", "127.0.0.1"),
          Map.of("ERL_EPMD_PORT", String.valueOf(port)));
      eventually().until(() -> Ports.isOpen(port));
      return port;
    }
  }
}
