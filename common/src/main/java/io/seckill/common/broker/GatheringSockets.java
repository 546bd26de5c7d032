package io.seckill.common.broker;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import javax.net.SocketFactory;

/**
 * Creates the socket of one connection and can buffer its writes to send them together. Without it,
 * the client writes each frame to the network separately, which costs more than everything else
 * about a publish. Has no effect on a connection whose socket another factory creates, as with TLS.
 */
public final class GatheringSockets extends SocketFactory {

  /** Stream of the latest socket; before the first socket, one that discards its output. */
  private volatile GatheringStream stream = new GatheringStream(OutputStream.nullOutputStream());

  /**
   * Buffers writes, up to the size of the buffer, until {@link #release}, which must follow soon:
   * heartbeats are buffered as well.
   */
  public void holdBack() {
    stream.holdBack();
  }

  /** Sends the buffered writes. Throws IOException when the connection is broken. */
  public void release() throws IOException {
    stream.release();
  }

  /** The only method that the client calls: it connects the socket itself. */
  @Override
  public Socket createSocket() {
    return new Socket() {
      @Override
      public OutputStream getOutputStream() throws IOException {
        stream = new GatheringStream(super.getOutputStream());
        return stream;
      }
    };
  }

  @Override
  public Socket createSocket(String host, int port) {
    throw new UnsupportedOperationException("the client connects its sockets itself");
  }

  @Override
  public Socket createSocket(String host, int port, InetAddress localHost, int localPort) {
    throw new UnsupportedOperationException("the client connects its sockets itself");
  }

  @Override
  public Socket createSocket(InetAddress host, int port) {
    throw new UnsupportedOperationException("the client connects its sockets itself");
  }

  @Override
  public Socket createSocket(
      InetAddress address, int port, InetAddress localAddress, int localPort) {
    throw new UnsupportedOperationException("the client connects its sockets itself");
  }

  /**
   * Writes everything through at once, except between {@link #holdBack} and {@link #release}: then
   * it buffers up to {@value #SIZE} bytes, and writes what exceeds the buffer. The order of bytes
   * never changes. Thread-safe.
   */
  static final class GatheringStream extends FilterOutputStream {

    private static final int SIZE = 64 * 1024;

    private final byte[] kept = new byte[SIZE];
    private int count;
    private boolean holding;

    GatheringStream(OutputStream out) {
      super(out);
    }

    synchronized void holdBack() {
      holding = true;
    }

    synchronized void release() throws IOException {
      holding = false;
      passOn();
      out.flush();
    }

    @Override
    public synchronized void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public synchronized void write(byte[] bytes, int from, int length) throws IOException {
      if (holding && length <= SIZE - count) {
        System.arraycopy(bytes, from, kept, count, length);
        count += length;
      } else {
        passOn();
        out.write(bytes, from, length);
      }
    }

    @Override
    public synchronized void flush() throws IOException {
      if (!holding) {
        passOn();
        out.flush();
      }
    }

    private void passOn() throws IOException {
      int length = count;
      count = 0;
      out.write(kept, 0, length);
    }
  }
}
