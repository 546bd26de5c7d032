package io.seckill.testing;

import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A separate ext4 file system in a file, mounted over the data folder of one server. A test can
 * fill it up or simulate a loss of power. Linux only; needs root, loop devices and perl.
 *
 * <p>kill -9 proves nothing about fsync, because the kernel's page cache survives it. {@link
 * #losePower()} shuts the file system down as a failing machine would: data that was not synced is
 * lost, and the journal is replayed at the next mount. Data that the kernel has written back on its
 * own survives, so call it soon after the writes.
 */
public final class LoopDisk implements AutoCloseable {

  /** Shuts the file system down without writing its log: EXT4_IOC_SHUTDOWN, flag NOLOGFLUSH. */
  private static final String SHUT_DOWN =
      "use Fcntl; sysopen(my $folder, $ARGV[0], O_RDONLY | O_DIRECTORY) or die \"open: $!\";"
          + " my $flag = pack('L', 2); ioctl($folder, 0x8004587d, $flag) or die \"ioctl: $!\";";

  private static final int PIECE = 64 * 1024;

  /** More often than the server makes room between a write that fails and the look after it. */
  private static final int MOST_FAILURES = 100;

  /** Space that is filled piece by piece, because the server writes to the disk meanwhile. */
  private static final long RESERVE = 16L * 1024 * 1024;

  private final TestServer server;
  private final Path folder;
  private final Path image;
  private final Path ballast;
  private final Path canary;

  private LoopDisk(TestServer server, Path folder) {
    this.server = server;
    this.folder = folder;
    this.image = folder.resolveSibling("disk.img");
    this.ballast = folder.resolve("ballast");
    this.canary = folder.resolve("canary");
  }

  /** Returns why no disk can be mounted here, as one sentence; empty when one can be mounted. */
  public static Optional<String> missing(TestServer server) {
    if (server.dataFolder().isEmpty()) {
      return Optional.of("the server's data are in a container");
    }
    try {
      Path probe = RunDirectory.newHome("loop-disk");
      try {
        Path image = probe.resolve("disk.img");
        Path folder = Files.createDirectory(probe.resolve("data"));
        mount(format(image, 8), folder);
        run("umount", folder.toString());
        run("perl", "-e", "1");
        return Optional.empty();
      } finally {
        ServerFiles.deleteTree(probe);
      }
    } catch (IOException | UncheckedIOException | IllegalStateException e) {
      return Optional.of("no loop device can be mounted here (root?): " + e.getMessage());
    }
  }

  /**
   * Stops the server and puts its data on a new disk; does not start it again.
   *
   * @param megabytes room on the disk beside twice the data that the server has now; the disk's
   *     file is sparse and occupies only what is used
   */
  public static LoopDisk under(TestServer server, int megabytes) {
    server.stop();
    LoopDisk disk = new LoopDisk(server, server.dataFolder().orElseThrow());
    Path aside = disk.folder.resolveSibling("aside");
    format(disk.image, megabytes + 2 * megabytesOf(disk.folder));
    mount(disk.image, aside);
    try {
      copy(disk.folder, aside);
    } finally {
      run("umount", aside.toString());
    }
    ServerFiles.deleteTree(aside);
    mount(disk.image, disk.folder);
    return disk;
  }

  /** Fills the disk until there is no room for the next write. */
  public void fill() throws IOException {
    byte[] piece = new byte[PIECE];
    long most = Files.getFileStore(folder).getUsableSpace() - RESERVE;
    if (most > 0) { // allocates the space without writing
      run("fallocate", "-l", Long.toString(most), ballast.toString());
    }
    int failures = 0;
    do {
      try (OutputStream out = Files.newOutputStream(ballast, CREATE, APPEND)) {
        while (true) {
          out.write(piece);
        }
      } catch (IOException e) {
        if (++failures == MOST_FAILURES) {
          throw e; // for another reason than a full disk
        }
      }
    } while (Files.getFileStore(folder).getUsableSpace() > PIECE);
  }

  /** Frees the space taken by {@link #fill()}. */
  public void makeRoom() throws IOException {
    Files.delete(ballast);
  }

  /**
   * Discards the data that was not synced and kills the server; returns with the disk mounted again
   * and the server not running.
   *
   * @throws IllegalStateException when a file that was never synced survived, so that no power loss
   *     was simulated
   */
  public void losePower() {
    try {
      Files.writeString(canary, "not synced");
      server.freeze();
      run("perl", "-e", SHUT_DOWN, folder.toString());
      server.kill();
      run("umount", folder.toString());
      mount(image, folder);
      if (Files.exists(canary) && Files.size(canary) > 0) {
        throw new IllegalStateException("what was never synced is still on the disk");
      }
      Files.deleteIfExists(canary);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Kills the server and moves its files back to their old folder, without the fill file. */
  @Override
  public void close() {
    server.kill();
    Path aside = folder.resolveSibling("aside");
    try {
      Files.deleteIfExists(ballast);
      Files.createDirectories(aside);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    copy(folder, aside);
    run("umount", folder.toString());
    ServerFiles.deleteTree(folder);
    run("mv", aside.toString(), folder.toString());
    ServerFiles.deleteTree(image);
  }

  private static Path format(Path image, int megabytes) {
    run("truncate", "-s", megabytes + "M", image.toString());
    run("mkfs.ext4", "-q", "-F", "-m", "0", image.toString());
    return image;
  }

  private static void mount(Path image, Path folder) {
    ServerFiles.createDirectories(folder);
    run("mount", "-o", "loop", image.toString(), folder.toString());
  }

  /** Copies everything except what mkfs created. */
  private static void copy(Path from, Path to) {
    run("cp", "-a", from + "/.", to.toString());
    ServerFiles.deleteTree(to.resolve("lost+found"));
  }

  private static int megabytesOf(Path folder) {
    String size = Commands.run(List.of("du", "-sm", folder.toString()), Map.of());
    return Integer.parseInt(size.substring(0, size.indexOf('\t')));
  }

  private static void run(String... command) {
    Commands.run(List.of(command), Map.of());
  }
}
