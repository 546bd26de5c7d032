package io.seckill.testing;

import java.util.Set;

/**
 * One vhost of a RabbitMQ node. Its URL leads to the node directly or through a proxy; its own
 * queries and commands always go to the node directly.
 */
public final class RabbitVhost {

  private final RabbitServer server;
  private final String name;
  private final String host;
  private final int port;

  RabbitVhost(RabbitServer server, String name, String host, int port) {
    this.server = server;
    this.name = name;
    this.host = host;
    this.port = port;
  }

  public String name() {
    return name;
  }

  /** {@code amqp://user:password@host:port/vhost}, for the administrator. */
  public String url() {
    return "amqp://%s:%s@%s:%d/%s"
        .formatted(server.username(), server.password(), host, port, name);
  }

  /** The same vhost with a URL that leads through a proxy. */
  public RabbitVhost via(TcpProxy proxy) {
    return new RabbitVhost(server, name, proxy.host(), proxy.port());
  }

  /** Counters of one queue, at most about 250 ms old. A queue that does not exist has zeros. */
  public QueueDepth queueDepth(String queue) {
    return server.queueDepth(name, queue);
  }

  /** Names of all queues. */
  public Set<String> queues() {
    return server.management().queues(name).keySet();
  }

  /** Tags of all consumers. */
  public Set<String> consumerTags() {
    return server.management().consumerTags(name);
  }

  /** Names that clients gave their connections; the list may be some seconds old. */
  public Set<String> connectionNames() {
    return server.management().connectionNames(name);
  }

  /**
   * Sets a policy for queues.
   *
   * @param pattern regular expression over queue names
   * @param definition JSON object, such as {@code {"max-length":10,"overflow":"reject-publish"}}
   */
  public void setPolicy(String policy, String pattern, String definition) {
    server.ctl("set_policy", "-p", name, "--apply-to", "queues", policy, pattern, definition);
  }

  public void clearPolicy(String policy) {
    server.ctl("clear_policy", "-p", name, policy);
  }

  /** Closes all client connections of this vhost from the server's side. */
  public void closeConnections(String reason) {
    server.ctl("close_all_connections", "-p", name, reason);
  }

  /** Creates the vhost if it does not exist, as after a {@link RabbitServer#wipe()}. */
  public void recreate() {
    server.management().createVhost(name);
  }
}
