package io.seckill.relay.lane;

import java.util.concurrent.CountDownLatch;

/** Runs the lanes of a relay as a process: {@code RelayMain <redis url> <broker url>}. */
final class RelayMain {

  private RelayMain() {}

  public static void main(String[] urls) throws InterruptedException {
    TestRelay relay = TestRelay.start(urls[0], urls[1]);
    Runtime.getRuntime().addShutdownHook(new Thread(relay::close));
    new CountDownLatch(1).await();
  }
}
