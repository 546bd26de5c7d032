package io.seckill.testing;

import static io.seckill.testing.Eventually.eventually;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * The epmd (Erlang name server) of all RabbitMQ nodes of this JVM. Without it the first node would
 * start an epmd daemon on the port that all Erlang nodes of the machine share, and leave it behind.
 */
final class ErlangNameServer {

  private static final int SERVICE_PORT = 4369;

  private ErlangNameServer() {}

  /** Returns its port. The first call starts it, and it runs until the JVM ends. */
  static int port() {
    return Holder.PORT;
  }

  private static final class Holder {
    private static final int PORT = start();
  }

  private static int start() {
    int port = Ports.free(List.of(SERVICE_PORT)).of(SERVICE_PORT);
    Path home = RunDirectory.newHome("epmd");
    String epmd = Programs.find("epmd", "erlang-base");
    ChildProcess.start(
        home,
        List.of(epmd, "-port", String.valueOf(port), "-address", "127.0.0.1"),
        Map.of("ERL_EPMD_PORT", String.valueOf(port)));
    eventually().pollDelay(Duration.ZERO).until(() -> Ports.isOpen(port));
    return port;
  }
}
