package io.seckill.common.broker;

import java.io.BufferedOutputStream;
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
   * Sends at each flush, with which the client ends every command, except between {@link #holdBack}
   * and {@link #release}: then it buffers up to {@value #SIZE} bytes, and writes when there are
   * more. The order of bytes never changes. Thread-safe.
   */
  static final class GatheringStream extends BufferedOutputStream {

    private static final int SIZE = 64 * 1024;

    private boolean holding;

    GatheringStream(OutputStream out) {
      super(out, SIZE);
    }

    synchronized void holdBack() {
      holding = true;
    }

    synchronized void release() throws IOException {
      holding = false;
      flush();
    }

    @Override
    public synchronized void flush() throws IOException {
      if (!holding) {
        super.flush();
      }
    }
  }
}
