package io.seckill.testing;

import static io.seckill.testing.Eventually.eventually;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import java.io.IOException;
import java.net.URISyntaxException;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * One vhost of a RabbitMQ node or cluster. Its URL leads to the node directly or through a proxy;
 * its own queries and commands always go to the node directly, or to a node of the cluster that
 * answers.
 */
public final class RabbitVhost {

  private final Supplier<RabbitServer> server;
  private final String name;
  private final String url;

  /**
   * @param server the node to ask and to command, chosen anew each time
   */
  RabbitVhost(Supplier<RabbitServer> server, String name, String url) {
    this.server = server;
    this.name = name;
    this.url = url;
  }

  public String name() {
    return name;
  }

  /**
   * {@code amqp://user:password@host:port/vhost}, for the administrator. Of a cluster it is a list
   * of such URLs, separated by commas, as {@code seckill.broker.urls} takes it.
   */
  public String url() {
    return url;
  }

  /** The same vhost with a URL that leads through a proxy. */
  public RabbitVhost via(TcpProxy proxy) {
    return new RabbitVhost(server, name, RabbitServer.url(proxy.host(), proxy.port(), name));
  }

  /** Connects as the administrator, without automatic recovery. */
  public Connection connect() throws IOException {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setAutomaticRecoveryEnabled(false);
    try {
      factory.setUri(url);
      return factory.newConnection("test");
    } catch (URISyntaxException | GeneralSecurityException | TimeoutException e) {
      throw new IOException("no connection to " + url, e);
    }
  }

  /** Counters of one queue, at most about 250 ms old. A queue that does not exist has zeros. */
  public QueueDepth queueDepth(String queue) {
    return server.get().queueDepth(name, queue);
  }

  /** Takes the leader of a quorum queue of one member away; its messages stay. */
  public void stopLeader(String queue) {
    leader(queue, "stop_server");
  }

  public void restartLeader(String queue) {
    leader(queue, "restart_server");
  }

  private void leader(String queue, String function) {
    String expression =
        "{ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<\"%s\">>, queue, <<\"%s\">>)),"
            + " ok = ra:%s(quorum_queues, amqqueue:get_pid(Q)).";
    server.get().eval(expression.formatted(name, queue, function));
  }

  /** Waits until a queue has no message, which counters that are too old do not prove. */
  public void awaitEmpty(String queue) {
    eventually(queue + " to be empty")
        .pollDelay(Duration.ofMillis(250))
        .until(() -> queueDepth(queue).total() == 0);
  }

  /** Names of all queues. */
  public Set<String> queues() {
    return server.get().management().queues(name).keySet();
  }

  /** Tags of all consumers. */
  public Set<String> consumerTags() {
    return server.get().management().consumerTags(name);
  }

  /** Names that clients gave their connections; the list may be some seconds old. */
  public Set<String> connectionNames() {
    return server.get().management().connectionNames(name);
  }

  /**
   * Sets a policy for queues.
   *
   * @param pattern regular expression over queue names
   * @param definition JSON object, such as {@code {"max-length":10,"overflow":"reject-publish"}}
   */
  public void setPolicy(String policy, String pattern, String definition) {
    server.get().management().putPolicy(name, policy, pattern, definition);
  }

  public void clearPolicy(String policy) {
    server.get().management().deletePolicy(name, policy);
  }

  /**
   * Grants a user regular expressions over names in this vhost, in place of those granted before.
   */
  public void setPermissions(String user, String configure, String write, String read) {
    server.get().management().putPermissions(name, user, configure, write, read);
  }

  /** Closes all client connections of this vhost from the server's side. */
  public void closeConnections(String reason) {
    RabbitManagement management = server.get().management();
    management.closeConnections(management.connections(name), reason);
  }

  /**
   * Deletes it with its queues and connections. A quorum queue costs processor time for as long as
   * it exists, and one server has the queues of many test classes.
   */
  public void delete() {
    server.get().management().deleteVhost(name);
  }

  /** Creates the vhost if it does not exist, as after a {@link RabbitServer#wipe()}. */
  public void recreate() {
    server.get().management().createVhost(name);
  }
}
