package io.seckill.testing;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** Finds programs of Debian packages. */
public final class Programs {

  /**
   * Searched before the PATH: the wrappers that Debian puts there require the service account and
   * its directories.
   */
  private static final List<Path> FIRST = List.of(Path.of("/usr/lib/rabbitmq/bin"));

  private static final List<Path> LAST = List.of(Path.of("/usr/sbin"), Path.of("/usr/local/sbin"));

  private Programs() {}

  /**
   * @param debianPackage package named in the error when the program is missing
   * @return the program's full path
   * @throws ServerStartException when it is not installed
   */
  public static String find(String program, String debianPackage) {
    Stream<Path> path =
        Arrays.stream(System.getenv().getOrDefault("PATH", "").split(":")).map(Path::of);
    return Stream.of(FIRST.stream(), path, LAST.stream())
        .flatMap(directories -> directories)
        .map(directory -> directory.resolve(program))
        .filter(Files::isExecutable)
        .findFirst()
        .map(Path::toString)
        .orElseThrow(
            () ->
                new ServerStartException(
                    program + " is not installed: apt-get install " + debianPackage, null));
  }
}
