package io.seckill.testing;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;

/** Sends back what it receives and records it; {@link #close()} ends its thread per connection. */
public final class EchoServer implements Closeable {

  private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final Set<Socket> connections = ConcurrentHashMap.newKeySet();
  private final AtomicReference<String> received = new AtomicReference<>("");

  public EchoServer() throws IOException {
    run("echo-accept", this::accept);
  }

  public int port() {
    return listener.getLocalPort();
  }

  /** All bytes of all connections so far. */
  public String received() {
    return received.get();
  }

  @Override
  public void close() throws IOException {
    listener.close();
    for (Socket connection : connections) {
      connection.close();
    }
  }

  private void accept() throws IOException {
    while (true) {
      Socket connection = listener.accept();
      connections.add(connection);
      run("echo", () -> echo(connection));
    }
  }

  private void echo(Socket connection) throws IOException {
    byte[] piece = new byte[1024];
    try (connection) {
      for (int length = connection.getInputStream().read(piece);
          length >= 0;
          length = connection.getInputStream().read(piece)) {
        received.accumulateAndGet(
            new String(piece, 0, length, StandardCharsets.UTF_8), String::concat);
        connection.getOutputStream().write(piece, 0, length);
      }
    }
  }

  private static void run(String name, Work work) {
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (IOException e) {
                // The connection or the server was closed: the thread ends.
              }
            },
            name);
    thread.setDaemon(true);
    thread.start();
  }

  private interface Work {
    void run() throws IOException;
  }
}
