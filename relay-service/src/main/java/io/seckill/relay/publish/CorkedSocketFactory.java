package io.seckill.relay.publish;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import javax.net.SocketFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the one socket of a connection, whose output can be corked: the client flushes after every
 * publish, which is a system call per order; while corked, bytes collect and go out together.
 * Heartbeats of that moment wait with them.
 */
final class CorkedSocketFactory extends SocketFactory {

  private static final Logger log = LoggerFactory.getLogger(CorkedSocketFactory.class);
  private static final int BUFFER_BYTES = 64 * 1024;

  private volatile @Nullable CorkedOutput output;
  private volatile @Nullable Socket socket;

  /** Collect from now on. */
  void cork() {
    CorkedOutput current = output;
    if (current != null) {
      current.corked = true;
    }
  }

  /**
   * Sends what was collected and goes back to sending at once.
   *
   * @throws IOException when the link is broken
   */
  void uncork() throws IOException {
    CorkedOutput current = output;
    if (current != null) {
      current.corked = false;
      current.flush();
    }
  }

  /** Learns of the socket in use; it may be one that this factory did not make (TLS). */
  void opened(Socket opened) {
    socket = opened;
  }

  /** Closes the socket under whoever reads or writes it. */
  void sever() {
    Socket current = socket;
    if (current != null) {
      try {
        current.close();
      } catch (IOException e) {
        log.debug("closing a broken socket: {}", e.toString());
      }
    }
  }

  @Override
  public Socket createSocket() {
    return new CorkedSocket();
  }

  @Override
  public Socket createSocket(String host, int port) {
    throw new UnsupportedOperationException("the client connects the socket itself");
  }

  @Override
  public Socket createSocket(String host, int port, InetAddress local, int localPort) {
    throw new UnsupportedOperationException("the client connects the socket itself");
  }

  @Override
  public Socket createSocket(InetAddress host, int port) {
    throw new UnsupportedOperationException("the client connects the socket itself");
  }

  @Override
  public Socket createSocket(InetAddress host, int port, InetAddress local, int localPort) {
    throw new UnsupportedOperationException("the client connects the socket itself");
  }

  private final class CorkedSocket extends Socket {
    @Override
    public OutputStream getOutputStream() throws IOException {
      CorkedOutput corked = new CorkedOutput(super.getOutputStream());
      output = corked;
      return corked;
    }
  }

  private static final class CorkedOutput extends OutputStream {
    private final OutputStream out;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int length;
    private volatile boolean corked;

    CorkedOutput(OutputStream out) {
      this.out = out;
    }

    @Override
    public synchronized void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public synchronized void write(byte[] bytes, int offset, int count) throws IOException {
      if (count > buffer.length - length) {
        drain();
      }
      if (count > buffer.length) {
        out.write(bytes, offset, count);
      } else {
        System.arraycopy(bytes, offset, buffer, length, count);
        length += count;
      }
    }

    @Override
    public synchronized void flush() throws IOException {
      if (!corked) {
        drain();
        out.flush();
      }
    }

    @Override
    public void close() throws IOException {
      out.close();
    }

    private void drain() throws IOException {
      int count = length;
      length = 0;
      out.write(buffer, 0, count);
    }
  }
}
