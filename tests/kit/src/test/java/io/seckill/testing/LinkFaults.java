package io.seckill.testing;

import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;

/** The fault switches of one {@link TcpProxy}; its threads read them for every chunk of data. */
final class LinkFaults {

  private volatile boolean dropToServer;
  private volatile boolean dropToClient;
  private volatile boolean cut;
  private volatile Duration delay = Duration.ZERO;
  private final LongAdder droppedBytes = new LongAdder();
  private final LongAdder delayedBytes = new LongAdder();
  private final LongAdder resetConnections = new LongAdder();

  void dropToServer(boolean drop) {
    dropToServer = drop;
  }

  void dropToClient(boolean drop) {
    dropToClient = drop;
  }

  void cut(boolean on) {
    cut = on;
  }

  void delay(Duration duration) {
    delay = duration;
  }

  void clear() {
    dropToServer = false;
    dropToClient = false;
    cut = false;
    delay = Duration.ZERO;
  }

  boolean dropsToServer() {
    return dropToServer;
  }

  boolean dropsToClient() {
    return dropToClient;
  }

  boolean isCut() {
    return cut;
  }

  void dropped(int bytes) {
    droppedBytes.add(bytes);
  }

  void delayed(int bytes) {
    delayedBytes.add(bytes);
  }

  long delayedBytes() {
    return delayedBytes.sum();
  }

  void connectionReset() {
    resetConnections.increment();
  }

  long droppedBytes() {
    return droppedBytes.sum();
  }

  long resetConnections() {
    return resetConnections.sum();
  }

  long delayMillis() {
    return delay.toMillis();
  }
}
