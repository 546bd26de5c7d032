package io.seckill.common.broker;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import javax.net.SocketFactory;

/**
 * Makes the one socket of a connection, whose writes can be held back and sent together: the client
 * writes each frame to the network by itself, which costs more than everything else about a publish
 * or an ack. Without effect on a connection that takes its socket elsewhere, as TLS does.
 */
public final class GatheringSockets extends SocketFactory {

  /** Of the socket made last; one that goes nowhere before the first. */
  private volatile GatheringStream stream = new GatheringStream(OutputStream.nullOutputStream());

  /**
   * Keeps what is written, up to a buffer's size, until {@link #release}, which must follow soon:
   * heartbeats wait as well.
   */
  public void holdBack() {
    stream.holdBack();
  }

  /**
   * Sends what was held back.
   *
   * @throws IOException when the connection is broken
   */
  public void release() throws IOException {
    stream.release();
  }

  /** What the client uses: it connects the socket itself. */
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
}
