package io.seckill.system.agent;

import static net.bytebuddy.matcher.ElementMatchers.named;

import io.seckill.system.process.Service;
import io.seckill.testing.ServiceJar;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.zip.ZipFile;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.pool.TypePool;

/** Checks that the methods to change exist in a service's jar or in the JDK. */
final class ServiceMethods {

  private ServiceMethods() {}

  /**
   * @throws IllegalArgumentException naming the first class or method that does not exist
   */
  static void check(Service service, List<Advised> advices) {
    advices.forEach(advised -> check(service, advised));
  }

  private static void check(Service service, Advised advised) {
    TypeDescription type =
        advised.className().startsWith("java.")
            ? ofPlatform(advised.className())
            : ofService(service, advised);
    if (type.getDeclaredMethods().filter(named(advised.method())).isEmpty()) {
      throw new IllegalArgumentException(
          advised.className()
              + " has no method "
              + advised.method()
              + ", needed by "
              + advised.name());
    }
  }

  private static TypeDescription ofPlatform(String className) {
    try {
      return TypeDescription.ForLoadedType.of(Class.forName(className));
    } catch (ClassNotFoundException e) {
      throw new IllegalArgumentException("the JDK has no class " + className, e);
    }
  }

  private static TypeDescription ofService(Service service, Advised advised) {
    String path = advised.className().replace('.', '/') + ".class";
    try (ZipFile jar = new ZipFile(service.jar().toFile())) {
      byte[] bytes =
          ServiceJar.file(jar, path)
              .orElseThrow(
                  () ->
                      new IllegalArgumentException(
                          service.jar()
                              + " has no class "
                              + advised.className()
                              + ", needed by "
                              + advised.name()));
      return TypePool.Default.of(ClassFileLocator.Simple.of(advised.className(), bytes))
          .describe(advised.className())
          .resolve();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
