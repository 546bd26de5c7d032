package io.seckill.testing.mutation;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MutantJarTest {

  private static final String LIBRARY = "BOOT-INF/lib/library.jar";
  private static final String LANES = "BOOT-INF/lib/relay-lanes-1.jar";

  @TempDir private Path folder;

  @BeforeEach
  void packageAService() throws IOException {
    try (ZipOutputStream jar = new ZipOutputStream(Files.newOutputStream(original()))) {
      jar.putNextEntry(new ZipEntry("BOOT-INF/classes/admit.lua"));
      jar.write("if used > limit then return 'Q' end".getBytes(UTF_8));
      store(jar, LIBRARY, "as it is".getBytes(UTF_8));
      store(jar, LANES, lanes());
    }
  }

  private static byte[] lanes() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipOutputStream jar = new ZipOutputStream(bytes)) {
      jar.putNextEntry(new ZipEntry("other.lua"));
      jar.putNextEntry(new ZipEntry("settle.lua"));
      jar.write("if score <= 0 then return -1 end".getBytes(UTF_8));
    }
    return bytes.toByteArray();
  }

  private static void store(ZipOutputStream jar, String name, byte[] content) throws IOException {
    CRC32 crc = new CRC32();
    crc.update(content);
    ZipEntry stored = new ZipEntry(name);
    stored.setMethod(ZipEntry.STORED);
    stored.setSize(content.length);
    stored.setCrc(crc.getValue());
    jar.putNextEntry(stored);
    jar.write(content);
  }

  @Test
  void changesAFileAsOftenAsIsAskedForAndLeavesLibrariesUncompressed() throws IOException {
    Mutation first = any().text("admit.lua", "used > limit", "false");
    Mutation second = any().text("admit.lua", "'Q'", "'O'");

    MutantJar.write(original(), copy(), List.of(first, second));

    try (ZipFile jar = new ZipFile(copy().toFile())) {
      assertThat(text(jar, "BOOT-INF/classes/admit.lua")).isEqualTo("if false then return 'O' end");
      assertThat(text(jar, LIBRARY)).isEqualTo("as it is");
      assertThat(jar.getEntry(LIBRARY).getMethod()).isEqualTo(ZipEntry.STORED);
    }
  }

  @Test
  void changesAFileOfTheLanesByACopyThatComesFirst() throws IOException {
    MutantJar.write(original(), copy(), List.of(any().text("settle.lua", "score <= 0", "false")));

    try (ZipFile jar = new ZipFile(copy().toFile())) {
      assertThat(text(jar, "BOOT-INF/classes/settle.lua")).isEqualTo("if false then return -1 end");
      assertThat(jar.getEntry(LANES)).isNotNull();
    }
  }

  @Test
  void refusesWhatIsNotThere() {
    refuses(any().text("admit.lua", "no such line", ""), "exactly once");
    refuses(any().text("renamed.lua", "a", "b"), "renamed.lua");
  }

  private void refuses(Mutation mutation, String because) {
    assertThatThrownBy(() -> MutantJar.write(original(), copy(), List.of(mutation)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(because);
  }

  private static Mutation any() {
    return Mutation.named("any");
  }

  private static String text(ZipFile jar, String name) throws IOException {
    return new String(jar.getInputStream(jar.getEntry(name)).readAllBytes(), UTF_8);
  }

  private Path original() {
    return folder.resolve("service.jar");
  }

  private Path copy() {
    return folder.resolve("mutants").resolve("service.jar");
  }
}
