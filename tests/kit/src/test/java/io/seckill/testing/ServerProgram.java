package io.seckill.testing;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** How one kind of server is run as a child process. */
interface ServerProgram {

  /** A short name for its directory. */
  String name();

  /** The usual ports the server listens on; each is replaced by a free port. */
  List<Integer> servicePorts();

  /**
   * Writes the configuration, and creates the data if there is none.
   *
   * @param home the server's own directory; all data goes to {@code home/data}, which {@link
   *     Machine#wipe()} deletes
   */
  void prepare(Path home, Ports ports);

  /** The command that runs the server in the foreground, with its log on standard output. */
  List<String> command(Path home);

  /** Variables for the server and for its tools, added to a {@link CleanEnvironment}. */
  Map<String, String> environment(Path home, Ports ports);
}
