package io.seckill.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** One connection through a {@link TcpProxy}: two sockets and a thread per direction. */
final class ProxiedConnection {

  private static final long JOIN_MILLIS = 5_000;

  private final Socket client;
  private final Socket server;
  private final LinkFaults faults;
  private final Consumer<ProxiedConnection> onEnd;
  private final Thread toServer;
  private final Thread toClient;
  private final AtomicInteger openDirections = new AtomicInteger(2);
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile boolean lostBytes;

  ProxiedConnection(
      Socket client, Socket server, LinkFaults faults, Consumer<ProxiedConnection> onEnd) {
    this.client = client;
    this.server = server;
    this.faults = faults;
    this.onEnd = onEnd;
    this.toServer = thread("to-server", () -> carry(client, server, faults::dropsToServer));
    this.toClient = thread("to-client", () -> carry(server, client, faults::dropsToClient));
  }

  private Thread thread(String direction, Runnable work) {
    Thread thread = new Thread(work, "tcp-proxy-" + client.getLocalPort() + "-" + direction);
    thread.setDaemon(true);
    return thread;
  }

  void start() {
    toServer.start();
    toClient.start();
  }

  boolean lostBytes() {
    return lostBytes;
  }

  void reset() {
    reset(client);
    reset(server);
    end();
  }

  void awaitEnd() {
    join(toServer);
    join(toClient);
  }

  /** With a linger time of 0, close sends RST instead of FIN and drops the data not sent yet. */
  static void reset(Socket socket) {
    try {
      socket.setSoLinger(true, 0);
      socket.close();
    } catch (IOException e) {
      // The socket was closed already, which is the wanted state.
    }
  }

  static void join(Thread thread) {
    try {
      thread.join(JOIN_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void carry(Socket from, Socket to, BooleanSupplier drops) {
    try {
      copy(from.getInputStream(), to.getOutputStream(), drops);
      to.shutdownOutput();
      closeWhenBothDirectionsEnded();
    } catch (IOException e) {
      reset();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      reset();
    }
  }

  private void copy(InputStream in, OutputStream out, BooleanSupplier drops)
      throws IOException, InterruptedException {
    byte[] piece = new byte[64 * 1024];
    boolean hole = false;
    for (int length = in.read(piece); length >= 0; length = in.read(piece)) {
      long delayMillis = faults.delayMillis();
      if (delayMillis > 0) {
        if (ended.await(delayMillis, TimeUnit.MILLISECONDS)) {
          return;
        }
        faults.delayed(length);
      }
      if (drops.getAsBoolean()) {
        hole = true;
        lostBytes = true;
        faults.dropped(length);
        if (!drops.getAsBoolean()) { // the drop has ended, perhaps before it saw this hole
          reset();
          return;
        }
      } else if (!hole) {
        out.write(piece, 0, length);
      } else {
        faults.dropped(length);
      }
    }
  }

  private void closeWhenBothDirectionsEnded() throws IOException {
    if (openDirections.decrementAndGet() == 0) {
      client.close();
      server.close();
      end();
    }
  }

  private void end() {
    ended.countDown();
    onEnd.accept(this);
  }
}
