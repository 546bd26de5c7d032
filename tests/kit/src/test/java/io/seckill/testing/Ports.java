package io.seckill.testing;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;

/** Free ports of 127.0.0.1, each looked up by the usual port of the service it replaces. */
public final class Ports {

  /**
   * Below the ephemeral range of Linux, so that no client takes the port of a server that was
   * killed.
   */
  private static final int FIRST = 20_000;

  private static final int LAST = 32_000;

  /** Open until this JVM ends. */
  private static final Queue<DatagramSocket> CLAIMS = new ConcurrentLinkedQueue<>();

  private final Map<Integer, Integer> byServicePort;

  private Ports(Map<Integer, Integer> byServicePort) {
    this.byServicePort = byServicePort;
  }

  static Ports free(Collection<Integer> servicePorts) {
    Map<Integer, Integer> chosen = new HashMap<>();
    for (Integer servicePort : servicePorts) {
      chosen.put(servicePort, free());
    }
    return new Ports(chosen);
  }

  int of(int servicePort) {
    Integer port = byServicePort.get(servicePort);
    if (port == null) {
      throw new IllegalArgumentException("Nothing listens for " + servicePort);
    }
    return port;
  }

  /**
   * Returns a port for a server that a test starts, and may stop and start again. No other test
   * gets it until this JVM ends, because a service may take a minute until it listens.
   */
  public static int free() {
    while (true) {
      int port = ThreadLocalRandom.current().nextInt(FIRST, LAST);
      if (claim(port) && isFree(port)) {
        return port;
      }
    }
  }

  /**
   * Claims the port by binding the UDP port of the same number: nothing else here uses UDP, and the
   * system releases it when this JVM ends.
   */
  private static boolean claim(int port) {
    try {
      CLAIMS.add(new DatagramSocket(port, InetAddress.getLoopbackAddress()));
      return true;
    } catch (SocketException e) {
      return false;
    }
  }

  /** Whether something on this machine accepts connections at the port. */
  public static boolean isOpen(int port) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    } catch (IOException e) {
      return false;
    }
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
