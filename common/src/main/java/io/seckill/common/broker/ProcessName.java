package io.seckill.common.broker;

import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * Name of a process in the broker's lists, so that operators can distinguish two processes of one
 * service.
 */
public final class ProcessName {

  private static final String INSTANCE = host() + ":" + ProcessHandle.current().pid();

  private ProcessName() {}

  /** Returns {@code <role>@<host>:<process id>}, unique among the processes of an installation. */
  public static String withRole(String role) {
    return role + "@" + INSTANCE;
  }

  public static String host() {
    String said = System.getenv("HOSTNAME");
    if (said != null && !said.isBlank()) {
      return said;
    }
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "localhost";
    }
  }
}
