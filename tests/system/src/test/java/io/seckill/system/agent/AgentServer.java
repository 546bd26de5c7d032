package io.seckill.system.agent;

import static org.awaitility.Awaitility.await;

import com.sun.tools.attach.AgentInitializationException;
import com.sun.tools.attach.AgentLoadException;
import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
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
import java.util.Optional;
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
   * Names the methods that the agent of a process shall change.
   *
   * @param name unique among the processes that run at the same time
   * @throws IllegalArgumentException when the service has no such class or method
   */
  public void expect(Service service, String name, List<Advised> wanted) {
    ServiceMethods.check(service, wanted);
    advices.put(name, List.copyOf(wanted));
  }

  /** The session of the latest process of that name, if it has an agent. */
  public Optional<AgentSession> session(String name) {
    return Optional.ofNullable(latest.get(name));
  }

  /**
   * Loads the agent into a process that serves: a younger one may take the signal for its end.
   * Processes start without, because an agent makes a start take a third longer.
   */
  public AgentSession attach(String name, long pid) {
    try {
      VirtualMachine process = VirtualMachine.attach(Long.toString(pid));
      try {
        process.loadAgent(AgentJar.file().toString(), listener.getLocalPort() + ":" + name);
      } finally {
        process.detach();
      }
    } catch (IOException | AttachNotSupportedException e) {
      throw new IllegalStateException("the agent cannot be loaded into " + name, e);
    } catch (AgentLoadException | AgentInitializationException e) {
      throw new IllegalStateException("the agent of " + name + " does not start", e);
    }
    await("the agent of " + name)
        .atMost(START_LIMIT)
        .pollInterval(Duration.ofMillis(10))
        .until(() -> latest.containsKey(name));
    return latest.get(name);
  }

  /** Forgets the agent of a process that has ended. */
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
        // The listener is closed, or a process died at once: the loop's condition shows which.
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
