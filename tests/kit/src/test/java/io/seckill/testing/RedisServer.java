package io.seckill.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.UnifiedJedis;

/** A Redis server. It has no persistence unless its configuration enables it. */
public final class RedisServer extends TestServer {

  static final int SERVICE_PORT = 6379;

  /** Databases of one server; each is given to one caller only, so it needs no cleaning. */
  static final int DATABASES = 4096;

  private final Machine machine;
  private final AtomicInteger nextDatabase = new AtomicInteger();

  private RedisServer(Machine machine, boolean shared) {
    super("Redis", machine, shared);
    this.machine = machine;
  }

  /**
   * Starts a server for the caller alone; the caller closes it.
   *
   * @param lines lines of redis.conf, such as {@code "appendonly yes"}, {@code "appendfsync
   *     always"}; they override the defaults (no AOF, no snapshots)
   */
  public static RedisServer start(String... lines) {
    return started(new RedisServer(Backend.current().redis(List.of(lines)), false));
  }

  /** Starts a Redis Sentinel, as a child process. */
  static RedisServer startSentinel(List<String> lines) {
    return started(new RedisServer(new ProcessMachine(new SentinelProcess(lines)), false));
  }

  /** As {@link #start(String...)}, in a container with any {@code seckill.test.servers}. */
  public static RedisServer startContainer(String... lines) {
    return started(new RedisServer(new ContainerBackend().redis(List.of(lines)), false));
  }

  static RedisServer startShared() {
    return started(new RedisServer(Backend.current().redis(List.of()), true));
  }

  private static RedisServer started(RedisServer server) {
    server.launch();
    return server;
  }

  @Override
  public int port() {
    return machine.port(SERVICE_PORT);
  }

  /**
   * Returns an empty database that no other caller gets.
   *
   * @throws IllegalStateException when all 4096 of this server are taken
   */
  public RedisDatabase newDatabase() {
    int number = nextDatabase.getAndIncrement();
    if (number >= DATABASES) {
      throw new IllegalStateException("All " + DATABASES + " databases of this Redis are taken");
    }
    return new RedisDatabase(host(), port(), number);
  }

  /** A client of database 0; the caller closes it. */
  public UnifiedJedis open() {
    return new RedisDatabase(host(), port(), 0).open();
  }

  /** A connection that the caller closes, without a login. */
  Jedis connect() {
    return new Jedis(host(), port());
  }

  /**
   * A server whose ACLs require a login answers NOAUTH, a server that reads its AOF answers
   * LOADING. The first one is ready.
   */
  @Override
  void handshake() throws IOException {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(host(), port()), 1_000);
      socket.setSoTimeout(1_000);
      socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
      String answer =
          new BufferedReader(
                  new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
              .readLine();
      if (answer == null || !(answer.equals("+PONG") || answer.startsWith("-NOAUTH"))) {
        throw new IOException("Redis answers " + answer);
      }
    }
  }

  /** redis-server as a Sentinel. */
  private static final class SentinelProcess implements ServerProgram {

    private final List<String> lines;

    SentinelProcess(List<String> lines) {
      this.lines = lines;
    }

    @Override
    public String name() {
      return "sentinel";
    }

    @Override
    public List<Integer> servicePorts() {
      return List.of(RedisServer.SERVICE_PORT);
    }

    /** Only before the first start: Sentinel stores its state in its configuration file. */
    @Override
    public void prepare(Path home, Ports ports) {
      Path file = home.resolve("sentinel.conf");
      if (Files.exists(file)) {
        return;
      }
      List<String> configuration =
          new ArrayList<>(
              List.of(
                  "bind 127.0.0.1",
                  "port " + ports.of(RedisServer.SERVICE_PORT),
                  "dir " + home.resolve("data")));
      configuration.addAll(lines);
      ServerFiles.write(file, configuration);
    }

    @Override
    public List<String> command(Path home) {
      return List.of(
          Programs.find("redis-server", "redis-server"),
          home.resolve("sentinel.conf").toString(),
          "--sentinel");
    }

    @Override
    public Map<String, String> environment(Path home, Ports ports) {
      return Map.of();
    }
  }
}
