package io.seckill.consumer.runtime;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.seckill.common.broker.ProcessName;
import io.seckill.common.broker.QuietExceptionHandler;
import io.seckill.support.broker.BrokerSettings;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.stereotype.Component;

/** Opens connections; the owner of one opens a new one after any error. */
@Component
public class BrokerConnections {

  /** Longest wait for a publisher confirm; beyond it the outcome is unknown. */
  public static final Duration CONFIRM_TIMEOUT = Duration.ofSeconds(5);

  private static final int HANDSHAKE_TIMEOUT_MS = 2_000;

  private final ConnectionFactory factory;

  BrokerConnections(BrokerSettings settings) {
    this.factory = settings.factory();
    factory.setHandshakeTimeout(HANDSHAKE_TIMEOUT_MS);
    factory.setShutdownTimeout(1_000);
    factory.setExceptionHandler(new QuietExceptionHandler());
  }

  /**
   * @param purpose shown by the broker, for operators
   * @throws IOException when the broker cannot be reached or refuses the connection
   */
  public Connection open(String purpose) throws IOException {
    try {
      return factory.newConnection(name(purpose));
    } catch (TimeoutException e) {
      throw new IOException("the broker did not answer in time", e);
    }
  }

  /** One connection for Spring's listeners and templates, opened on first use. */
  CachingConnectionFactory cached(String purpose) {
    CachingConnectionFactory cached = new CachingConnectionFactory(factory.clone());
    cached.setConnectionNameStrategy(connections -> name(purpose));
    return cached;
  }

  /** A consumer tag or connection name, by which operators recognise this process at the broker. */
  public static String name(String purpose) {
    return ProcessName.withRole("order-consumer") + " " + purpose;
  }
}
