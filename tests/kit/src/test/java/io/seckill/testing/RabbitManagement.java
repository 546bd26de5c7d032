package io.seckill.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Calls RabbitMQ's management API where it is much faster than rabbitmqctl. The names passed to it
 * need no URL encoding.
 */
final class RabbitManagement {

  /**
   * Only this listing reads the counters from the queues; other listings return samples that are
   * seconds old.
   */
  private static final String LIVE_TOTALS = "?disable_stats=true&enable_queue_totals=true";

  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  /** HTTP/1.1: RabbitMQ 3.10 may never answer a PUT that also asks for an upgrade to HTTP/2. */
  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(2))
          .build();

  private final String api;

  RabbitManagement(String host, int port) {
    this.api = "http://" + host + ":" + port + "/api/";
  }

  /**
   * Returns when the node answers, by itself: other listings ask every node, and a frozen one keeps
   * them waiting for a minute.
   */
  void ping() {
    send("GET", "whoami", "");
  }

  /** Creates the vhost and grants its creator all permissions in it. */
  void createVhost(String name) {
    send("PUT", "vhosts/" + name, "");
    putPermissions(name, RabbitServer.USER, ".*", ".*", ".*");
  }

  /** Creates a user who may do nothing yet, or gives that user another password. */
  void putUser(String name, String password) {
    send("PUT", "users/" + name, "{\"password\":\"%s\",\"tags\":\"\"}".formatted(password));
  }

  /** Grants a user these permissions in the vhost, in place of all others there. */
  void putPermissions(String vhost, String user, String configure, String write, String read) {
    String body =
        "{\"configure\":\"%s\",\"write\":\"%s\",\"read\":\"%s\"}"
            .formatted(escaped(configure), escaped(write), escaped(read));
    send("PUT", "permissions/" + vhost + "/" + user, body);
  }

  /** Deletes the vhost, its queues, and the connections to it. */
  void deleteVhost(String name) {
    send("DELETE", "vhosts/" + name, "");
  }

  /** Sets a policy for queues, see {@link RabbitVhost#setPolicy}. */
  void putPolicy(String vhost, String policy, String pattern, String definition) {
    String body =
        "{\"apply-to\":\"queues\",\"pattern\":\"%s\",\"definition\":%s}"
            .formatted(escaped(pattern), definition);
    send("PUT", "policies/" + vhost + "/" + policy, body);
  }

  /** A regular expression in a JSON string. */
  private static String escaped(String pattern) {
    return pattern.replace("\\", "\\\\");
  }

  void deletePolicy(String vhost, String policy) {
    send("DELETE", "policies/" + vhost + "/" + policy, "");
  }

  /** Counters by queue name; a queue just declared may have no counters yet and counts as empty. */
  Map<String, QueueDepth> queues(String vhost) {
    Map<String, QueueDepth> depths = new HashMap<>();
    for (Map<String, Object> queue :
        JsonObjects.parse(send("GET", "queues/" + vhost + LIVE_TOTALS, ""))) {
      depths.put(
          String.valueOf(queue.get("name")),
          new QueueDepth(count(queue, "messages_ready"), count(queue, "messages_unacknowledged")));
    }
    return depths;
  }

  /**
   * A quorum queue and its nodes by their Erlang names.
   *
   * @param leader the last known leader, which may have ended
   */
  record QueueMembers(
      String vhost, String queue, String leader, Set<String> members, Set<String> online) {

    /** Whether every member runs, and the leader is one of them. */
    boolean areComplete() {
      return online.equals(members) && online.contains(leader);
    }
  }

  /** The quorum queues of all vhosts. */
  List<QueueMembers> quorumQueues() {
    List<QueueMembers> queues = new ArrayList<>();
    for (Map<String, Object> queue : JsonObjects.parse(send("GET", "queues" + LIVE_TOTALS, ""))) {
      if (queue.get("leader") instanceof String leader) {
        queues.add(
            new QueueMembers(
                String.valueOf(queue.get("vhost")),
                String.valueOf(queue.get("name")),
                leader,
                names(queue.get("members")),
                names(queue.get("online"))));
      }
    }
    return queues;
  }

  private static Set<String> names(@Nullable Object list) {
    Set<String> names = new HashSet<>();
    if (list instanceof List<?> texts) {
      texts.forEach(text -> names.add(String.valueOf(text)));
    }
    return names;
  }

  /** Erlang names of the nodes that run, by this one's list. */
  Set<String> runningNodes() {
    Set<String> names = new HashSet<>();
    for (Map<String, Object> node :
        JsonObjects.parse(send("GET", "nodes?disable_stats=true", ""))) {
      if (Boolean.TRUE.equals(node.get("running"))) {
        names.add(String.valueOf(node.get("name")));
      }
    }
    return names;
  }

  /** Tags of all consumers. */
  Set<String> consumerTags(String vhost) {
    return texts("consumers/" + vhost, "consumer_tag");
  }

  /** Names that clients gave their connections; a connection just opened may not be listed yet. */
  Set<String> connectionNames(String vhost) {
    return texts("vhosts/" + vhost + "/connections", "user_provided_name");
  }

  /** The connections of clients by the addresses of their ends. */
  Set<String> connections() {
    return texts("connections", "name");
  }

  /** The connections to one vhost. */
  Set<String> connections(String vhost) {
    return texts("vhosts/" + vhost + "/connections", "name");
  }

  /** Closes connections from the server's side; one that has ended meanwhile is none. */
  void closeConnections(Set<String> connections, String reason) {
    for (String connection : connections) {
      String path =
          "connections/"
              + URLEncoder.encode(connection, StandardCharsets.UTF_8).replace("+", "%20");
      HttpRequest request = request(path).header("X-Reason", reason).DELETE().build();
      HttpResponse<String> response = send(request);
      if (response.statusCode() != 404) {
        check(request, response);
      }
    }
  }

  private Set<String> texts(String path, String member) {
    Set<String> texts = new TreeSet<>();
    for (Map<String, Object> one : JsonObjects.parse(send("GET", path, ""))) {
      if (one.get(member) instanceof String text) {
        texts.add(text);
      }
    }
    return texts;
  }

  private static long count(Map<String, Object> queue, String counter) {
    return queue.get(counter) instanceof Number number ? number.longValue() : 0;
  }

  private String send(String method, String path, String body) {
    HttpRequest request = request(path).method(method, BodyPublishers.ofString(body)).build();
    HttpResponse<String> response = send(request);
    check(request, response);
    return response.body();
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(api + path))
        .timeout(TIMEOUT)
        .header("Authorization", basicAuthorization())
        .header("Content-Type", "application/json");
  }

  private static void check(HttpRequest request, HttpResponse<String> response) {
    if (response.statusCode() / 100 != 2) {
      throw new IllegalStateException(
          "%s %s of the management API: %d %s"
              .formatted(request.method(), request.uri(), response.statusCode(), response.body()));
    }
  }

  private HttpResponse<String> send(HttpRequest request) {
    try {
      return http.send(request, BodyHandlers.ofString());
    } catch (IOException e) {
      throw new UncheckedIOException("The management API does not answer: " + request.uri(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted while asking " + request.uri(), e);
    }
  }

  private static String basicAuthorization() {
    String credentials = RabbitServer.USER + ":" + RabbitServer.PASSWORD;
    return "Basic "
        + Base64.getEncoder().encodeToString(credentials.getBytes(StandardCharsets.UTF_8));
  }
}
