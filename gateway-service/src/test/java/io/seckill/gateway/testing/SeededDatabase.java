package io.seckill.gateway.testing;

import static io.seckill.testing.Eventually.eventually;
import static java.util.stream.Collectors.joining;

import io.seckill.common.order.OrderId;
import io.seckill.common.sale.Shards;
import io.seckill.gateway.catalogue.ProductCache;
import io.seckill.gateway.verification.VerifiedServers;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.TcpProxy;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** A MySQL database with the schema of order-consumer's migrations and rows written by a test. */
public final class SeededDatabase {

  private final MySqlDatabase database;

  private SeededDatabase(MySqlDatabase database) {
    this.database = database;
  }

  public static SeededDatabase create(MySqlServer server) {
    SeededDatabase ledger = new SeededDatabase(server.newDatabase());
    ledger.execute(ledger.migrations());
    return ledger;
  }

  public SeededDatabase via(TcpProxy proxy) {
    return new SeededDatabase(database.via(proxy));
  }

  /**
   * Starts a gateway without order-consumer on this database, and waits until it admits purchases.
   *
   * @param properties {@code name=value}; they override the defaults
   */
  public TestGateway gateway(String redisUrl, String... properties) {
    TestGateway gateway = heldGateway(redisUrl, properties);
    eventually()
        .until(
            () ->
                gateway.bean(VerifiedServers.class).allVerified()
                    && gateway.bean(ProductCache.class).lastRead().isPresent());
    return gateway;
  }

  /** Starts a gateway; it may not admit yet, because Redis is not verified. */
  public TestGateway heldGateway(String redisUrl, String... properties) {
    return TestGateway.start(redisUrl, database, TestGateway.NO_CONSUMER, properties);
  }

  public DataSource dataSource() {
    return new DriverManagerDataSource(
        database.jdbcUrl(), database.username(), database.password());
  }

  /** Writes a strong sale with 100 units; replaces the row if it exists. */
  public void strongSale(long sku, String state, long lastSeq) {
    sale(sku, state, 1, lastSeq, "MYSQL");
  }

  /** Writes an order of one unit as order-consumer would. */
  public void order(OrderId id, long sku, long user, String status) {
    execute(
        ("INSERT INTO orders (order_id, user_id, sku_id, quantity, unit_price_cents, request_id,"
                + " status, epoch, seq, admitted_at)"
                + " VALUES (%s, %d, %d, 1, 100, 'key-%s', '%s', 1, 1, UTC_TIMESTAMP(3))")
            .formatted(id, user, sku, id, status));
  }

  public void pay(OrderId id) {
    execute("UPDATE orders SET status = 'PAID' WHERE order_id = " + id);
  }

  /** Writes a sale; replaces the row if it exists. */
  public void sale(long sku, String state, long epoch, long lastSeq) {
    sale(sku, state, epoch, lastSeq, "REDIS");
  }

  /** Writes an open sale with the rows of its shards; these have 100 units each. */
  public void shardedSale(long sku, int shards) {
    sale(sku, "OPEN", 1, 0);
    execute("UPDATE products SET stock = 0, shards = %d WHERE sku_id = %d".formatted(shards, sku));
    Shards.ids(sku, shards).forEach(id -> sale(id, "OPEN", 1, 0));
  }

  /** Writes a sale that was sold in shards, with the rows of these, as its archive leaves it. */
  public void archivedSale(long sku, int shards) {
    strongSale(sku, "CLOSED", 5);
    execute("UPDATE products SET shards = %d WHERE sku_id = %d".formatted(shards, sku));
    Shards.ids(sku, shards).forEach(id -> strongSale(id, "CLOSED", 5));
  }

  /** Moves the closing time of a sale, and of its shards, so many hours into the past. */
  public void closed(long sku, int hoursAgo) {
    execute(
        ("UPDATE products SET opens_at = UTC_TIMESTAMP() - INTERVAL %d HOUR,"
                + " closes_at = UTC_TIMESTAMP() - INTERVAL %d HOUR WHERE sku_id IN (%d%s)")
            .formatted(
                hoursAgo + 1,
                hoursAgo,
                sku,
                Shards.ids(sku, Shards.MOST).stream().map(id -> "," + id).collect(joining())));
  }

  /** Writes an open sale whose shards MySQL decides, as in a fallback; each has these units. */
  public void shardedFallback(long sku, int shards, long units) {
    sale(sku, "NEW", 1, 0); // not in Redis
    execute(
        "UPDATE products SET state = 'OPEN', stock = 0, shards = %d WHERE sku_id = %d"
            .formatted(shards, sku));
    for (long id : Shards.ids(sku, shards)) {
      sale(id, "OPEN", 1, 0, "MYSQL");
      execute(
          "UPDATE products SET stock = %d, fallback = 'ACTIVE' WHERE sku_id = %d"
              .formatted(units, id));
    }
  }

  private void sale(long sku, String state, long epoch, long lastSeq, String decides) {
    String sql =
        "REPLACE INTO products (sku_id, name, price_cents, stock, initial_stock, policy,"
            + " limit_per_user, opens_at, closes_at, state, epoch, last_seq, decides)"
            + " VALUES (?, 'thing', 100, 100, 100, 'UNLIMITED', 0, UTC_TIMESTAMP(),"
            + " UTC_TIMESTAMP() + INTERVAL 1 DAY, ?, ?, ?, ?)";
    try (Connection connection = database.connect();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setLong(1, sku);
      statement.setString(2, state);
      statement.setLong(3, epoch);
      statement.setLong(4, lastSeq);
      statement.setString(5, decides);
      statement.executeUpdate();
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  /**
   * Writes the Redis server of a partition for which MySQL has stored everything that was published
   * before that server took over.
   */
  public void provenServer(int partition, String replicationId) {
    execute(
        "REPLACE INTO redis_server VALUES (%d, '%s', UTC_TIMESTAMP(3))"
            .formatted(partition, replicationId));
  }

  /**
   * Locks the table products: no other connection can read or write it until this is closed.
   *
   * @return closes the connection that holds the lock
   */
  public Closeable lockProducts() {
    try {
      Connection connection = database.connect();
      try (Statement statement = connection.createStatement()) {
        statement.execute("LOCK TABLES products WRITE");
      }
      return () -> close(connection);
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  private static void close(Connection connection) throws IOException {
    try {
      connection.close();
    } catch (SQLException e) {
      throw new IOException(e);
    }
  }

  /** Whether a connection waits for the table products, see {@link #lockProducts}. */
  public boolean isWaitedFor() {
    return database.number(
            "SELECT COUNT(*) FROM information_schema.processlist"
                + " WHERE db = DATABASE() AND state LIKE 'Waiting for table%'")
        > 0;
  }

  private void execute(String sql) {
    execute(List.of(sql));
  }

  private void execute(List<String> statements) {
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    } catch (SQLException e) {
      throw new AssertionError(String.join("\n", statements), e);
    }
  }

  private List<String> migrations() {
    Path directory =
        Path.of(
            System.getProperty("seckill.root"), "order-consumer/src/main/resources/db/migration");
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .sorted(Comparator.comparingInt(SeededDatabase::version))
          .map(SeededDatabase::read)
          // Splits at a semicolon that ends a line: string literals may contain semicolons.
          .flatMap(text -> Stream.of(text.replaceAll("--[^\n]*", "").split("(?m);\\s*$", -1)))
          .filter(statement -> !statement.isBlank())
          .toList();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Returns 11 for {@code V11__state_version.sql}, which sorts before V2 by name. */
  private static int version(Path file) {
    String name = file.getFileName().toString();
    return Integer.parseInt(name, 1, name.indexOf("__"), 10);
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
