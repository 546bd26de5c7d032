package io.seckill.system.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.system.agent.Advised;
import io.seckill.system.process.Service;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.pool.TypePool;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A renamed method is found here, and not by the first laboratory that starts. */
class FailpointsTest {

  private static final Path ROOT = Path.of(System.getProperty("seckill.root"));

  @ParameterizedTest
  @EnumSource
  void nameMethodsThatExist(Service service) throws IOException {
    try (ClassFileLocator classes = classesOf(service.module(), "relay-lanes")) {
      TypePool types = TypePool.Default.of(classes);
      for (Advised advised : Failpoints.of(service)) {
        assertThat(types.describe(advised.className()).resolve().getDeclaredMethods())
            .as("%s of %s", advised.name(), advised.className())
            .anyMatch(method -> method.getName().equals(advised.method()));
      }
    }
  }

  private static ClassFileLocator classesOf(String... modules) {
    return new ClassFileLocator.Compound(
        List.of(modules).stream()
            .map(module -> ROOT.resolve(module).resolve("target/classes"))
            .filter(Files::isDirectory)
            .map(folder -> new ClassFileLocator.ForFolder(folder.toFile()))
            .toList());
  }
}
