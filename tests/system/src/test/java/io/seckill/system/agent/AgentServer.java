package io.seckill.system.agent;

import static org.awaitility.Awaitility.await;

import io.seckill.system.process.Service;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The server to which the agents in a test's service processes connect, until closed. Thread-safe.
 */
public final class AgentServer implements AutoCloseable {

  private static final Duration START_LIMIT = Duration.ofSeconds(60);

  private final ServerSocket listener;
  private final Map<String, List<Advised>> advices = new ConcurrentHashMap<>();
  private final Map<String, AgentSession> latest = new ConcurrentHashMap<>();
  private final List<AgentSession> sessions = new CopyOnWriteArrayList<>();

  public AgentServer() {
    try {
      listener = new ServerSocket(0, 64, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Thread thread = new Thread(this::acceptAll, "agent-server");
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Returns the JVM flag that loads the agent into a process.
   *
   * @param name unique among the processes that run at the same time
   * @throws IllegalArgumentException when the service has no such class or method
   */
  public String jvmFlag(Service service, String name, List<Advised> wanted) {
    ServiceMethods.check(service, wanted);
    advices.put(name, List.copyOf(wanted));
    return "-javaagent:" + AgentJar.file() + "=" + listener.getLocalPort() + ":" + name;
  }

  /**
   * Returns the session of the latest process of that name; waits at most a minute for the first.
   */
  public AgentSession session(String name) {
    await("the agent of " + name)
        .atMost(START_LIMIT)
        .pollInterval(Duration.ofMillis(10))
        .until(() -> latest.containsKey(name));
    return latest.get(name);
  }

  /** Makes {@link #session} wait for a new process of that name, after the former has ended. */
  public void forget(String name) {
    latest.remove(name);
  }

  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    sessions.forEach(AgentSession::close);
  }

  private void acceptAll() {
    while (!listener.isClosed()) {
      try {
        greet(listener.accept());
      } catch (IOException e) {
        // The listener is closed, or a process died at once: the loop's condition tells which.
      }
    }
  }

  private void greet(Socket socket) throws IOException {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    PrintStream out = new PrintStream(socket.getOutputStream(), true, StandardCharsets.UTF_8);
    String name = String.valueOf(in.readLine()).replaceFirst("hello ", "");
    advices.getOrDefault(name, List.of()).forEach(advised -> out.println(advised.line()));
    out.println();
    AgentSession session = new AgentSession(name, socket, in, out);
    sessions.add(session);
    latest.put(name, session);
    session.listen();
  }
}
