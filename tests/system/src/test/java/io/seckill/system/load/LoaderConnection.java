package io.seckill.system.load;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/** One keep-alive connection with at most one request in flight. Used by one thread. */
final class LoaderConnection implements AutoCloseable {

  private final SocketChannel channel;
  private final SelectionKey key;
  private final ResponseReader response = new ResponseReader();
  private ByteBuffer request = ByteBuffer.allocate(0);
  private long index;
  private long dueNanos;

  private LoaderConnection(SocketChannel channel, SelectionKey key) {
    this.channel = channel;
    this.key = key;
    key.attach(this);
  }

  static LoaderConnection open(InetSocketAddress target, Selector selector) throws IOException {
    SocketChannel channel = SocketChannel.open(target);
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    channel.configureBlocking(false);
    return new LoaderConnection(channel, channel.register(selector, SelectionKey.OP_READ));
  }

  void send(long number, byte[] bytes, long due) throws IOException {
    index = number;
    dueNanos = due;
    request = ByteBuffer.wrap(bytes);
    response.reset();
    write();
  }

  /** Writes the bytes that the socket has not accepted yet. */
  void write() throws IOException {
    channel.write(request);
    key.interestOps(
        request.hasRemaining()
            ? SelectionKey.OP_READ | SelectionKey.OP_WRITE
            : SelectionKey.OP_READ);
  }

  /**
   * @param buffer scratch space
   * @return whether the answer is complete
   * @throws IOException also when the server closed the connection
   */
  boolean read(ByteBuffer buffer) throws IOException {
    buffer.clear();
    if (channel.read(buffer) < 0) {
      throw new IOException("closed by the server");
    }
    return response.take(buffer.flip());
  }

  LoadAnswer answer(long nowNanos) {
    return new LoadAnswer(index, response.status(), response.body(), dueNanos, nowNanos - dueNanos);
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
