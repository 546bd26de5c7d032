package io.seckill.system.process;

import io.seckill.testing.UnpackedService;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The three services and where the build leaves their executable jars. */
public enum Service {
  GATEWAY("gateway-service"),
  RELAY("relay-service"),
  CONSUMER("order-consumer");

  private final String module;

  Service(String module) {
    this.module = module;
  }

  /**
   * The executable jar.
   *
   * @throws IllegalStateException when the module has not been packaged
   */
  public Path jar() {
    Path jar = Path.of(System.getProperty("seckill.root"), module, "target", module + ".jar");
    if (!Files.isRegularFile(jar)) {
      throw new IllegalStateException(jar + " is missing: run mvn package first");
    }
    return jar;
  }

  /** Arguments for java to run the jar, as users do. */
  public List<String> asShipped() {
    return List.of("-jar", jar().toString());
  }

  /** Arguments for java to run the same classes unpacked, which start with less processor time. */
  public List<String> unpacked() {
    return UnpackedService.arguments(jar());
  }

  public String module() {
    return module;
  }
}
