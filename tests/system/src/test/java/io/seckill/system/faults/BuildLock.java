package io.seckill.system.faults;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/**
 * Held by one JVM of a build at a time, while it needs the processors: a lab that starts, and one
 * that must stay silent.
 */
final class BuildLock {

  private static final Path FILE = Path.of("target", "build.lock");

  private BuildLock() {}

  /** Runs this while no other JVM holds the lock. */
  static void hold(Runnable work) {
    try (FileChannel file = FileChannel.open(FILE, CREATE, WRITE)) {
      file.lock();
      work.run();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
