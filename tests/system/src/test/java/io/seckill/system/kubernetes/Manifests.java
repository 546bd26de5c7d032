package io.seckill.system.kubernetes;

import io.seckill.testing.Bounded;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Reads the objects of {@code deploy/kubernetes}. */
final class Manifests {

  private static final Path DEPLOYED =
      Path.of(System.getProperty("seckill.root"), "deploy/kubernetes");

  private Manifests() {}

  static boolean canRender() {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, "kubectl")));
  }

  /** All objects of an overlay, as {@code kubectl apply -k} would send them; needs no cluster. */
  static List<JsonNode> render(String overlay) throws IOException, InterruptedException {
    Path said = Files.createTempFile("kubectl", ".log");
    Process kubectl =
        new ProcessBuilder(
                "kubectl", "kustomize", DEPLOYED.resolve("overlays/" + overlay).toString())
            .redirectError(said.toFile())
            .start();
    List<JsonNode> objects;
    try (var output = kubectl.inputReader()) {
      objects = objects(new Yaml().loadAll(output));
    }
    if (Bounded.waitFor(kubectl) != 0) {
      throw new IllegalStateException(Files.readString(said));
    }
    Files.delete(said);
    return objects;
  }

  /** The objects of a file below deploy/kubernetes. */
  static List<JsonNode> deployed(String file) throws IOException {
    return objects(new Yaml().loadAll(Files.readString(DEPLOYED.resolve(file))));
  }

  private static List<JsonNode> objects(Iterable<Object> documents) {
    List<JsonNode> objects = new ArrayList<>();
    documents.forEach(object -> objects.add(JsonMapper.shared().valueToTree(object)));
    return objects;
  }
}
