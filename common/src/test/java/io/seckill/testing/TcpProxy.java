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
 * A TCP link whose faults a test switches on and off, between a client and a server of the test.
 *
 * <p>Thread-safe. It has one thread that accepts and two per connection, all daemons, and all ended
 * by {@link #close()}.
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
   * Opens a link to a server, which need not run yet: a connection is reset when the server cannot
   * be reached.
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

  /** The port clients connect to; the same until {@link #close()}. */
  public int port() {
    return listener.getLocalPort();
  }

  /**
   * While true, bytes from clients vanish; connections stay open and the other direction works. A
   * connection that lost bytes is reset when this ends, for a real link never goes on behind a
   * hole.
   */
  public void dropToServer(boolean drop) {
    faults.dropToServer(drop);
    if (!drop) {
      resetThoseWithHoles();
    }
  }

  /**
   * As {@link #dropToServer}, for bytes from the server: requests are carried out, their answers
   * are lost.
   */
  public void dropToClient(boolean drop) {
    faults.dropToClient(drop);
    if (!drop) {
      resetThoseWithHoles();
    }
  }

  /**
   * Holds back everything read from now on, in both directions, for at least this long and at most
   * twice as long; order and bytes stay. Zero ends it for what is read later.
   */
  public void delay(Duration delay) {
    faults.delay(delay);
  }

  /** Leads to another server from now on, as an address that has moved; resets all connections. */
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

  /** Bytes that vanished so far, both directions together. */
  public long droppedBytes() {
    return faults.droppedBytes();
  }

  /** Bytes that were held back so far, both directions together. */
  public long delayedBytes() {
    return faults.delayedBytes();
  }

  /** Connections that {@link #reset()} or {@link #cut()} have ended or refused so far. */
  public long resetConnections() {
    return faults.resetConnections();
  }

  /** Connections that were carried to the server so far. */
  public long acceptedConnections() {
    return accepted.get();
  }

  /** Connections that are open now. */
  public int openConnections() {
    return connections.size();
  }

  /** Resets all connections and gives the port back; returns when its threads have ended. */
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
        // Closed, or a client that gave up while it was accepted: the loop's condition tells which.
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
   * Where nobody listens, the system may pick the server's own port as ours and connect us to us.
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
