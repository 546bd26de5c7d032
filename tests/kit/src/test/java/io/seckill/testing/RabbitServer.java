package io.seckill.testing;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A RabbitMQ node with its management plugin and one administrator. Counters are at most about 250
 * ms old; with RabbitMQ's defaults they are up to 5 s old.
 *
 * <p>RabbitMQ (3.10.8 and 4.3.6) can lose confirmed messages at kill -9: a quorum queue younger
 * than about a second is empty after the restart. A test that kills the node calls {@link
 * #putQueuesOnDisk()} before it publishes.
 */
public final class RabbitServer extends TestServer {

  static final int SERVICE_PORT = 5672;
  static final int MANAGEMENT_PORT = 15672;
  static final int METRICS_PORT = 15692;
  static final String USER = "test";
  static final String PASSWORD = "test";

  private static final double DEFAULT_WATERMARK = 0.4;

  private final Machine machine;
  private final RabbitManagement management;
  private final AtomicInteger nextVhost = new AtomicInteger();
  private volatile double memoryWatermark = DEFAULT_WATERMARK;

  private RabbitServer(Machine machine, boolean shared) {
    super("RabbitMQ", machine, shared);
    this.machine = machine;
    this.management = new RabbitManagement(machine.host(), machine.port(MANAGEMENT_PORT));
  }

  /**
   * Starts a node for the caller alone; the caller closes it.
   *
   * @param lines lines of rabbitmq.conf, such as {@code "consumer_timeout = 60000"}; they override
   *     the defaults
   */
  public static RabbitServer start(String... lines) {
    return started(new RabbitServer(Backend.current().rabbit(List.of(lines)), false));
  }

  /** As {@link #start(String...)}, in a container with any {@code seckill.test.servers}. */
  public static RabbitServer startContainer(String... lines) {
    return started(new RabbitServer(new ContainerBackend().rabbit(List.of(lines)), false));
  }

  static RabbitServer startShared() {
    return started(new RabbitServer(Backend.current().rabbit(List.of()), true));
  }

  /** A node that is not started yet; {@link #launch()} starts it. */
  static RabbitServer on(Machine machine) {
    return new RabbitServer(machine, false);
  }

  private static RabbitServer started(RabbitServer server) {
    server.launch();
    return server;
  }

  @Override
  public int port() {
    return machine.port(SERVICE_PORT);
  }

  /** The port that Prometheus scrapes. */
  public int metricsPort() {
    return machine.port(METRICS_PORT);
  }

  /** The name of the administrator. */
  public String username() {
    return USER;
  }

  public String password() {
    return PASSWORD;
  }

  /** Creates a vhost that no other caller gets, with all permissions for the administrator. */
  public RabbitVhost newVhost() {
    String name = "v" + nextVhost.incrementAndGet();
    RabbitVhost vhost = new RabbitVhost(() -> this, name, url(name));
    vhost.recreate();
    return vhost;
  }

  /** {@code amqp://user:password@host:port/vhost}, for the administrator. */
  String url(String vhost) {
    return url(host(), port(), vhost);
  }

  static String url(String host, int port, String vhost) {
    return "amqp://%s:%s@%s:%d/%s".formatted(USER, PASSWORD, host, port, vhost);
  }

  /** Counters of one queue, at most about 250 ms old. A queue that does not exist has zeros. */
  public QueueDepth queueDepth(String vhost, String queue) {
    return management.queues(vhost).getOrDefault(queue, QueueDepth.EMPTY);
  }

  /**
   * Sets the share of memory above which publishers are blocked; applies to the whole node, until
   * it starts again. Does nothing when the node has this share.
   *
   * @param fraction 0.0000001 raises the alarm at once (row 19 of docs/proof.md), 0.4 is the
   *     default and ends it
   */
  public void setMemoryWatermark(double fraction) {
    if (fraction != memoryWatermark) {
      memoryWatermark = Double.NaN; // unknown, if this fails
      ctl("set_vm_memory_high_watermark", new java.math.BigDecimal(fraction).toPlainString());
      memoryWatermark = fraction;
    }
  }

  /** The connections of all clients by the addresses of their ends; may be some seconds old. */
  public Set<String> connections() {
    return management.connections();
  }

  /**
   * Closes every client connection of every vhost from the server's side; clients see the reason as
   * a CONNECTION_FORCED.
   */
  public void closeConnections(String reason) {
    management.closeConnections(management.connections(), reason);
  }

  /**
   * Writes the registry of quorum queues to disk, which RabbitMQ itself does about a second after a
   * queue was declared.
   */
  public void putQueuesOnDisk() {
    eval("[ok = dets:sync(Table) || Table <- dets:all()].");
  }

  /**
   * Runs rabbitmqctl against this node, quietly; takes about half a second.
   *
   * @return the command's output
   * @throws IllegalStateException with its output when it fails
   */
  public String ctl(String... arguments) {
    List<String> command = new ArrayList<>(List.of("rabbitmqctl", "-q"));
    command.addAll(List.of(arguments));
    return machine.run(command).strip();
  }

  /** Evaluates an Erlang expression on the node, such as {@code "rabbit_misc:version()."}. */
  public String eval(String expression) {
    return ctl("eval", expression);
  }

  RabbitManagement management() {
    return management;
  }

  /**
   * Clients need the listener and {@link #newVhost()} needs the management plugin, so both must
   * answer. The plugin is checked first, because the client library logs a warning for every failed
   * connection.
   */
  @Override
  void handshake() throws Exception {
    management.ping();
    memoryWatermark = DEFAULT_WATERMARK;
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri("amqp://" + USER + ":" + PASSWORD + "@" + host() + ":" + port());
    factory.setConnectionTimeout(2_000);
    factory.setHandshakeTimeout(5_000);
    factory.setAutomaticRecoveryEnabled(false);
    try (Connection connection = factory.newConnection("readiness of the test server")) {
      connection.createChannel().close();
    }
  }
}
