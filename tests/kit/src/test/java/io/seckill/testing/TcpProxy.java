package io.seckill.testing;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A TCP proxy between a client and a server of a test, whose faults the test switches on and off.
 *
 * <p>Thread-safe. It has one thread that accepts connections and two threads per connection; all
 * are daemon threads, and {@link #close()} ends them.
 */
public final class TcpProxy implements AutoCloseable {

  private final ServerSocket listener;
  private volatile InetSocketAddress server;
  private final Set<ProxiedConnection> connections = ConcurrentHashMap.newKeySet();
  private final LinkFaults faults = new LinkFaults();
  private final AtomicLong accepted = new AtomicLong();
  private final Thread acceptor;

  private TcpProxy(ServerSocket listener, InetSocketAddress server) {
    this.listener = listener;
    this.server = server;
    this.acceptor = new Thread(this::acceptAll, "tcp-proxy-" + listener.getLocalPort());
    this.acceptor.setDaemon(true);
  }

  /**
   * Opens a proxy to a server, which need not run yet: the proxy resets a client's connection when
   * the server cannot be reached.
   *
   * @throws IOException when no local port can be opened
   */
  public static TcpProxy to(String host, int port) throws IOException {
    ServerSocket listener = new ServerSocket(0, 128, InetAddress.getLoopbackAddress());
    TcpProxy proxy = new TcpProxy(listener, new InetSocketAddress(host, port));
    proxy.acceptor.start();
    return proxy;
  }

  /** As {@link #to(String, int)}, to the port of the server's own protocol. */
  public static TcpProxy to(TestServer server) throws IOException {
    return to(server.host(), server.port());
  }

  public String host() {
    return "127.0.0.1";
  }

  /** The port that clients connect to; it stays the same until {@link #close()}. */
  public int port() {
    return listener.getLocalPort();
  }

  /**
   * While true, bytes from clients are dropped; connections stay open and the other direction
   * works. When this ends, connections that lost bytes are reset, because a real TCP connection
   * never continues after a gap.
   */
  public void dropToServer(boolean drop) {
    faults.dropToServer(drop);
    if (!drop) {
      resetThoseWithHoles();
    }
  }

  /**
   * As {@link #dropToServer}, for bytes from the server: requests are executed, and their answers
   * are lost.
   */
  public void dropToClient(boolean drop) {
    faults.dropToClient(drop);
    if (!drop) {
      resetThoseWithHoles();
    }
  }

  /**
   * Delays all data read from now on, in both directions, by at least this long and at most twice
   * as long; the bytes and their order are unchanged. Zero ends the delay for data read later.
   */
  public void delay(Duration delay) {
    faults.delay(delay);
  }

  /** Leads to another server from now on, like an address that moved; resets all connections. */
  public void redirect(TestServer to) {
    server = new InetSocketAddress(to.host(), to.port());
    reset();
  }

  /** Resets all connections, on both sides; new ones are accepted. */
  public void reset() {
    for (ProxiedConnection connection : connections) {
      connection.reset();
      faults.connectionReset();
    }
  }

  /** Resets all connections and every new one, until {@link #heal()}. */
  public void cut() {
    faults.cut(true);
    reset();
  }

  /** Ends all faults. */
  public void heal() {
    faults.clear();
    resetThoseWithHoles();
  }

  /** Bytes dropped so far, both directions together. */
  public long droppedBytes() {
    return faults.droppedBytes();
  }

  /** Bytes delayed so far, both directions together. */
  public long delayedBytes() {
    return faults.delayedBytes();
  }

  /** Connections that {@link #reset()} or {@link #cut()} has reset or refused so far. */
  public long resetConnections() {
    return faults.resetConnections();
  }

  /** Connections that were forwarded to the server so far. */
  public long acceptedConnections() {
    return accepted.get();
  }

  /** Connections that are open now. */
  public int openConnections() {
    return connections.size();
  }

  /** Resets all connections and releases the port; returns when the proxy's threads have ended. */
  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException e) {
      throw new IllegalStateException("Cannot close the proxy on port " + port(), e);
    }
    ProxiedConnection.join(acceptor);
    for (ProxiedConnection connection : connections) {
      connection.reset();
      connection.awaitEnd();
    }
  }

  private void resetThoseWithHoles() {
    connections.stream().filter(ProxiedConnection::lostBytes).forEach(ProxiedConnection::reset);
  }

  private void acceptAll() {
    while (!listener.isClosed()) {
      try {
        accept(listener.accept());
      } catch (IOException e) {
        // The listener was closed, which the loop checks, or the client disconnected meanwhile.
      }
    }
  }

  private void accept(Socket client) {
    if (faults.isCut()) {
      ProxiedConnection.reset(client);
      faults.connectionReset();
      return;
    }
    try {
      ProxiedConnection connection =
          new ProxiedConnection(client, connectToServer(), faults, connections::remove);
      connections.add(connection);
      accepted.incrementAndGet();
      connection.start();
      resetIfCutMeanwhile(connection);
    } catch (IOException e) {
      ProxiedConnection.reset(client);
    }
  }

  /**
   * When no server listens, the system may choose the server's port as the socket's own port and
   * connect the socket to itself.
   */
  private Socket connectToServer() throws IOException {
    InetSocketAddress address = server;
    Socket socket = new Socket(address.getAddress(), address.getPort());
    if (socket.getLocalSocketAddress().equals(socket.getRemoteSocketAddress())) {
      ProxiedConnection.reset(socket);
      throw new ConnectException("nobody listens on port " + address.getPort());
    }
    return socket;
  }

  private void resetIfCutMeanwhile(ProxiedConnection connection) {
    if (faults.isCut()) {
      connection.reset();
    }
  }
}
