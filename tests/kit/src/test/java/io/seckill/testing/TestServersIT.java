package io.seckill.testing;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import java.nio.charset.StandardCharsets;
import java.sql.Statement;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.RedisClient;

@Tag("proof")
@ExtendWith(TestServers.class)
class TestServersIT {

  @Test
  void givesEveryCallerAnOwnRedisDatabase(RedisServer redis) {
    try (RedisClient one = RedisClient.create(redis.newDatabase().url());
        RedisClient other = RedisClient.create(redis.newDatabase().url())) {
      one.set("stock", "1");

      assertThat(one.get("stock")).isEqualTo("1");
      assertThat(other.get("stock")).isNull();
    }
  }

  @Test
  void givesEveryCallerAnOwnVhostAndCountsItsMessages(RabbitServer rabbit) throws Exception {
    RabbitVhost vhost = rabbit.newVhost();
    try (Connection connection = connect(vhost.url());
        Channel channel = connection.createChannel()) {
      channel.queueDeclare("orders", true, false, false, Map.of("x-queue-type", "quorum"));
      channel.basicPublish("", "orders", null, "1".getBytes(StandardCharsets.UTF_8));

      eventually().until(() -> vhost.queueDepth("orders").equals(new QueueDepth(1, 0)));
      assertThat(rabbit.newVhost().queues()).isEmpty();
    }
  }

  @Test
  void givesEveryCallerAnOwnMySqlDatabase(MySqlServer mysql) throws Exception {
    MySqlDatabase one = mysql.newDatabase();
    MySqlDatabase other = mysql.newDatabase();
    try (java.sql.Connection connection = one.connect();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE stock (sku BIGINT PRIMARY KEY)");

      assertThat(statement.executeUpdate("INSERT INTO stock VALUES (1001)")).isEqualTo(1);
      assertThatThrownBy(() -> statement.execute("USE " + other.name()))
          .hasMessageContaining("Access denied");
    }
  }

  @Test
  void refusesFaultsToASharedServer(RedisServer redis) {
    assertThatThrownBy(redis::kill).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(redis::close).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void handsOutTheSameServerAgain(RedisServer redis, RabbitServer rabbit, MySqlServer mysql) {
    assertThat(TestServers.redis()).isSameAs(redis);
    assertThat(TestServers.rabbit()).isSameAs(rabbit);
    assertThat(TestServers.mysql()).isSameAs(mysql);
  }

  private static Connection connect(String url) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(url);
    return factory.newConnection();
  }
}
