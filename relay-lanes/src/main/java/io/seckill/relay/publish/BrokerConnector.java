package io.seckill.relay.publish;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.seckill.common.breaker.Breakers;
import io.seckill.common.broker.ProcessName;
import io.seckill.common.broker.QuietExceptionHandler;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.springframework.core.NestedExceptionUtils;

/**
 * Opens links to the broker.
 *
 * <p>A circuit breaker, shared by all lanes, keeps them from flooding an unavailable broker with
 * connection attempts: while it is open no lane connects, and a lane without a link takes nothing,
 * so that the backlog stays in the outbox. It counts failures of the broker as a whole: failed
 * connects, broken links, missing confirms. A full or missing queue concerns its own lanes only.
 * Slow confirms do not count: with full windows their latency is at least window ÷ rate.
 */
public final class BrokerConnector {

  private final ConnectionFactory template;
  private final CircuitBreaker breaker;
  private final RelayMeters meters;
  private final LinkSettings links;
  private volatile String lastFailure = "";

  /**
   * @param broker without automatic recovery
   */
  public BrokerConnector(ConnectionFactory broker, LinkSettings links, RelayMeters meters) {
    this.template = broker;
    template.setExceptionHandler(new QuietExceptionHandler());
    this.links = links;
    this.meters = meters;
    this.breaker = CircuitBreaker.of("broker", breakerConfig());
    Breakers.bind(breaker, meters.registry());
  }

  static CircuitBreakerConfig breakerConfig() {
    return Breakers.ofLastCalls(16, 4, Duration.ofSeconds(2), 2)
        .maxWaitDurationInHalfOpenState(Duration.ofSeconds(10))
        .build();
  }

  /**
   * Connects, declares the topology unless another service does, enables confirms.
   *
   * @param name shown in the broker's list of connections, after the name of this process
   * @throws BrokerFailureException when it failed or the circuit breaker is open
   */
  public PublisherChannel open(String name) throws BrokerFailureException {
    if (!breaker.tryAcquirePermission()) {
      throw new BrokerFailureException("the circuit breaker is open: " + lastFailure, null);
    }
    long start = System.nanoTime();
    try {
      PublisherChannel link = connect(name);
      breaker.onSuccess(System.nanoTime() - start, TimeUnit.NANOSECONDS);
      return link;
    } catch (IOException | TimeoutException | RuntimeException | Error e) {
      breaker.onError(System.nanoTime() - start, TimeUnit.NANOSECONDS, e);
      lastFailure = "connecting failed: " + rootMessage(e);
      throw new BrokerFailureException(lastFailure, e);
    }
  }

  /** Reports to the circuit breaker a link that broke or went silent. */
  public void linkBroken(BrokerFailureException cause) {
    breaker.onError(0, TimeUnit.NANOSECONDS, cause);
    lastFailure = String.valueOf(cause.getMessage());
  }

  private PublisherChannel connect(String name) throws IOException, TimeoutException {
    LinkSocket socket = new LinkSocket();
    ConnectionFactory factory = template.clone();
    if (!factory.isSSL()) {
      factory.setSocketFactory(socket.writes());
    }
    factory.setSocketConfigurator(template.getSocketConfigurator().andThen(socket));
    try {
      Connection connection =
          factory.newConnection(ProcessName.withRole(links.service()) + " " + name);
      return PublisherChannel.over(connection, socket, links, meters);
    } catch (Error e) { // the client closes the socket only after an exception
      socket.sever();
      throw e;
    }
  }

  private static String rootMessage(Throwable e) {
    Throwable root = NestedExceptionUtils.getMostSpecificCause(e);
    return root.getClass().getSimpleName() + " " + root.getMessage();
  }
}
