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
 * An ext4 file system of its own, in a file, mounted over the data folder of one server: it can be
 * filled up, and it can lose its power. Linux only; needs root, loop devices and perl.
 *
 * <p>kill -9 proves nothing about fsync, because the kernel's page cache survives it. {@link
 * #losePower()} shuts the file system down as a failing machine would: what was not synced is gone,
 * the journal is replayed at the next mount. What the kernel wrote back on its own survives, so cut
 * soon after the writes.
 */
public final class LoopDisk implements AutoCloseable {

  /** Shuts the file system down without writing its log: EXT4_IOC_SHUTDOWN, flag NOLOGFLUSH. */
  private static final String SHUT_DOWN =
      "use Fcntl; sysopen(my $folder, $ARGV[0], O_RDONLY | O_DIRECTORY) or die \"open: $!\";"
          + " my $flag = pack('L', 2); ioctl($folder, 0x8004587d, $flag) or die \"ioctl: $!\";";

  private static final int PIECE = 64 * 1024;

  /** Left to be written piece by piece: others write to the disk meanwhile. */
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

  /** A sentence saying why no disk can be mounted under the server here; empty when one can. */
  public static Optional<String> missing(TestServer server) {
    if (server.dataFolder().isEmpty()) {
      return Optional.of("the server's data are in a container");
    }
    try {
      Path probe = Files.createTempDirectory("loop-disk");
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
   * @param megabytes size of the disk, of which its file takes what is used
   */
  public static LoopDisk under(TestServer server, int megabytes) {
    server.stop();
    LoopDisk disk = new LoopDisk(server, server.dataFolder().orElseThrow());
    Path aside = disk.folder.resolveSibling("aside");
    format(disk.image, megabytes);
    mount(disk.image, aside);
    copy(disk.folder, aside);
    run("umount", aside.toString());
    ServerFiles.deleteTree(aside);
    mount(disk.image, disk.folder);
    return disk;
  }

  /** Leaves no room for the next write. */
  public void fill() throws IOException {
    byte[] piece = new byte[PIECE];
    long most = Files.getFileStore(folder).getUsableSpace() - RESERVE;
    if (most > 0) { // takes the room without writing
      run("fallocate", "-l", Long.toString(most), ballast.toString());
    }
    try (OutputStream out = Files.newOutputStream(ballast, CREATE, APPEND)) {
      while (true) {
        out.write(piece);
      }
    } catch (IOException e) {
      if (Files.getFileStore(folder).getUsableSpace() > PIECE) {
        throw e; // not because it is full
      }
    }
  }

  /** Ends {@link #fill()}. */
  public void makeRoom() throws IOException {
    Files.delete(ballast);
  }

  /**
   * What was not synced is gone, and the server with it; returns with the disk mounted again and
   * the server not running.
   *
   * @throws IllegalStateException when a file that was never synced survived: the power was not
   *     lost
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

  /** Kills the server and brings its files back to where they were, without the ballast. */
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

  /** Everything but what mkfs has put there. */
  private static void copy(Path from, Path to) {
    run("cp", "-a", from + "/.", to.toString());
    ServerFiles.deleteTree(to.resolve("lost+found"));
  }

  private static void run(String... command) {
    Commands.run(List.of(command), Map.of());
  }
}
