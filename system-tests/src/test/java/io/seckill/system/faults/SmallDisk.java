package io.seckill.system.faults;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A disk of its own under one folder, to be made full and roomy again. The folder's files are on it
 * meanwhile, so nobody may have them open when it comes and goes. Needs root and Linux.
 */
final class SmallDisk implements AutoCloseable {

  private final Path folder;
  private final Path aside;
  private final Path ballast;

  private SmallDisk(Path folder, Path aside) {
    this.folder = folder;
    this.aside = aside;
    this.ballast = folder.resolve("ballast");
  }

  static boolean canBeMounted() {
    try {
      Path folder = Files.createTempDirectory("small-disk");
      boolean can = exit("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder.toString()) == 0;
      if (can) {
        run("umount", folder.toString());
      }
      Files.delete(folder);
      return can;
    } catch (IOException e) {
      return false;
    }
  }

  static SmallDisk over(String path) throws IOException {
    Path folder = Path.of(path);
    Path aside = folder.resolveSibling("beside-the-small-disk");
    Files.createDirectory(aside);
    SmallDisk disk = new SmallDisk(folder, aside);
    run("cp", "-a", folder + "/.", aside.toString());
    run("mount", "-t", "tmpfs", "-o", "size=256m", "tmpfs", folder.toString());
    run("cp", "-a", aside + "/.", folder.toString());
    return disk;
  }

  /** Leaves no room for the next write. */
  void fill() throws IOException {
    byte[] piece = new byte[64 * 1024];
    try (OutputStream out = Files.newOutputStream(ballast)) {
      while (true) {
        out.write(piece);
      }
    } catch (IOException e) {
      if (Files.getFileStore(folder).getUsableSpace() > piece.length) {
        throw e; // not because it is full
      }
    }
  }

  void grow() throws IOException {
    Files.delete(ballast);
  }

  /** Brings the files back to where they were; without the ballast, if that is still there. */
  @Override
  public void close() throws IOException {
    Files.deleteIfExists(ballast);
    run("cp", "-a", folder + "/.", aside.toString());
    run("umount", folder.toString());
    run("cp", "-a", aside + "/.", folder.toString());
    run("rm", "-r", aside.toString());
  }

  private static void run(String... command) {
    int exit = exit(command);
    if (exit != 0) {
      throw new IllegalStateException(List.of(command) + " exited with " + exit);
    }
  }

  private static int exit(String... command) {
    try {
      return new ProcessBuilder(command).inheritIO().start().waitFor();
    } catch (IOException e) {
      return -1;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return -1;
    }
  }
}
