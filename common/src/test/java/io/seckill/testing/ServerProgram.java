package io.seckill.testing;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** How one kind of server is run as a child process. */
interface ServerProgram {

  /** A short name for its directory. */
  String name();

  /** The usual ports of everything it listens on; each gets a free one instead. */
  List<Integer> servicePorts();

  /**
   * Writes the configuration, and creates the data when there is none.
   *
   * @param home its own directory; data belongs to {@code home/data} alone, which {@link
   *     Machine#wipe()} deletes
   */
  void prepare(Path home, Ports ports);

  /** The server in the foreground, with its log on standard output. */
  List<String> command(Path home);

  /** Variables for the server and for its tools, added to those of this JVM. */
  Map<String, String> environment(Path home, Ports ports);
}
