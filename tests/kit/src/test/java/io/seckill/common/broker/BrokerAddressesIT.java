package io.seckill.common.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.seckill.testing.Ports;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@Tag("proof")
@ExtendWith(TestServers.class)
class BrokerAddressesIT {

  private final AtomicInteger tried = new AtomicInteger();

  @Test
  void reachesTheBrokerAtWhicheverAddressItListens(RabbitServer rabbit) throws Exception {
    String url = rabbit.newVhost().url();
    ConnectionFactory broker =
        broker(List.of(url.replace(":" + rabbit.port(), ":" + Ports.free()), url));

    for (int attempt = 0; attempt < 4; attempt++) {
      try (Connection connection = broker.newConnection("test")) {
        assertThat(connection.getPort()).isEqualTo(rabbit.port());
      }
    }

    assertThat(tried).as("the closed port, too").hasValueGreaterThan(4);
  }

  /** The system accepts connections to a socket that listens, and nobody answers them. */
  @Test
  void anAttemptDoesNotWaitForTheTimeOutsOfEveryAddress() throws IOException {
    try (ServerSocket one = silent();
        ServerSocket two = silent();
        ServerSocket three = silent()) {
      ConnectionFactory broker = broker(List.of(at(one), at(two), at(three)));
      broker.setHandshakeTimeout(6_200); // half of it for the first answer

      assertThatThrownBy(() -> broker.newConnection("test")).isInstanceOf(TimeoutException.class);

      assertThat(tried).as("not all three").hasValueBetween(1, 2);
    }
  }

  private ConnectionFactory broker(List<String> urls) {
    ConnectionFactory broker = new BrokerAddresses(urls, null);
    broker.setAutomaticRecoveryEnabled(false);
    broker.setSocketConfigurator(socket -> tried.incrementAndGet());
    return broker;
  }

  private static ServerSocket silent() throws IOException {
    return new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
  }

  private static String at(ServerSocket socket) {
    return "amqp://relay:secret@127.0.0.1:" + socket.getLocalPort() + "/seckill";
  }
}
