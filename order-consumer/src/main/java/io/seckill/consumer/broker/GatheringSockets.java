package io.seckill.consumer.broker;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import javax.net.SocketFactory;

/** Makes the one socket of a {@link BrokerLink}, with a stream that can gather writes. */
final class GatheringSockets extends SocketFactory {

  private volatile GatheringStream stream = new GatheringStream(OutputStream.nullOutputStream());

  /** Of the socket made last; one that goes nowhere before the first. */
  GatheringStream stream() {
    return stream;
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
