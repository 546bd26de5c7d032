package io.seckill.system.agent.inside;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.instrument.Instrumentation;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Is loaded into a running service: fetches the list of advices from the test, installs them, and
 * then executes the test's commands on its own thread. Ends the process when an advice cannot be
 * installed, because a test that changes nothing would prove nothing.
 */
public final class FaultAgent {

  private static final int CANNOT_CHANGE = 70;

  private static @Nullable PrintStream toTest;

  private FaultAgent() {}

  /**
   * @param arguments {@code port:name}: the port on which the test listens, and its name for this
   *     process
   */
  public static void agentmain(String arguments, Instrumentation instrumentation) {
    try {
      int colon = arguments.indexOf(':');
      Socket socket =
          new Socket(
              InetAddress.getLoopbackAddress(), Integer.parseInt(arguments.substring(0, colon)));
      toTest = new PrintStream(socket.getOutputStream(), true, StandardCharsets.UTF_8);
      BufferedReader fromTest =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
      tell("hello " + arguments.substring(colon + 1));
      List<String> advices = new ArrayList<>();
      for (String line = fromTest.readLine(); !line.isEmpty(); line = fromTest.readLine()) {
        advices.add(line);
      }
      Weaver.weave(advices, instrumentation);
      WallClock clock = new WallClock(instrumentation);
      Thread thread = new Thread(() -> obey(fromTest, clock), "fault-agent");
      thread.setDaemon(true);
      thread.start();
    } catch (IOException | RuntimeException e) {
      fail("the agent cannot start", e);
    }
  }

  /** Thread-safe: a PrintStream prints line by line. */
  static void tell(String line) {
    PrintStream out = toTest;
    if (out != null) {
      out.println(line);
    }
  }

  @SuppressWarnings("CatchAndPrintStackTrace") // the process ends here; its output is its log
  static void fail(String what, Throwable cause) {
    System.err.println("fault agent: " + what);
    cause.printStackTrace();
    Runtime.getRuntime().halt(CANNOT_CHANGE);
  }

  private static void obey(BufferedReader fromTest, WallClock clock) {
    try {
      for (String line = fromTest.readLine(); line != null; line = fromTest.readLine()) {
        obey(line.split(" ", -1), clock);
        tell("done");
      }
    } catch (IOException e) {
      return; // the test has ended, and this process ends with it
    }
  }

  private static void obey(String[] words, WallClock clock) {
    switch (words[0]) {
      case "arm" ->
          FailpointRegistry.arm(
              words[1], PointAction.valueOf(words[2]), Integer.parseInt(words[3]));
      case "release" -> FailpointRegistry.release(words[1]);
      case "clock" -> clock.shift(words[1]);
      default -> throw new IllegalArgumentException("the agent does not know " + words[0]);
    }
  }
}
