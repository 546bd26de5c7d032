package io.seckill.consumer.runtime;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.seckill.common.broker.BrokerAddresses;
import io.seckill.common.broker.ProcessName;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.stereotype.Component;

/**
 * Opens connections without automatic recovery: after recovery a channel's delivery tags and
 * publish sequence numbers start again, and an old one would settle another message (facts.md 15).
 * The owner of a connection opens a new one after any error.
 */
@Component
public class BrokerConnections {

  /** Longest wait for a publisher confirm; beyond it the outcome is unknown. */
  public static final Duration CONFIRM_TIMEOUT = Duration.ofSeconds(5);

  /** For the TCP connection and for the handshake; a reachable broker needs milliseconds. */
  private static final int CONNECT_TIMEOUT_MS = 2_000;

  /** One answer on a channel; the client's own default is 10 minutes. */
  private static final int RPC_TIMEOUT_MS = 5_000;

  private final ConnectionFactory factory;

  /**
   * @throws IllegalArgumentException when a URL is invalid or the CA file holds no certificate
   */
  BrokerConnections(BrokerProperties settings) {
    this.factory = factory(settings);
  }

  private static ConnectionFactory factory(BrokerProperties settings) {
    ConnectionFactory factory = new BrokerAddresses(settings.urls(), settings.caFile());
    factory.setAutomaticRecoveryEnabled(false);
    factory.setTopologyRecoveryEnabled(false);
    factory.setRequestedHeartbeat((int) settings.heartbeat().toSeconds());
    factory.setConnectionTimeout(CONNECT_TIMEOUT_MS);
    factory.setHandshakeTimeout(CONNECT_TIMEOUT_MS);
    factory.setChannelRpcTimeout(RPC_TIMEOUT_MS);
    factory.setShutdownTimeout(1_000);
    return factory;
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
