package io.seckill.system.kubernetes;

import static io.seckill.testing.Eventually.eventually;

import io.seckill.system.Pipeline;
import io.seckill.system.SharedPipeline;
import io.seckill.system.process.LocalHttp;
import io.seckill.system.process.Service;
import io.seckill.testing.Eventually;
import io.seckill.testing.TestServers;
import java.io.IOException;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/** Running services answer what the probes of deploy/kubernetes ask. */
@ExtendWith({TestServers.class, SharedPipeline.class})
class KubernetesProbesIT {

  @ParameterizedTest
  @EnumSource
  void everyProbeIsAnswered(Service service, Pipeline pipeline) throws Exception {
    JsonNode container = container(service);

    for (String probe : new String[] {"startupProbe", "livenessProbe", "readinessProbe"}) {
      String path = container.at("/" + probe + "/httpGet/path").asString();
      int port = pipeline.healthPort(service);
      eventually(path).until(() -> LocalHttp.get(port, path, Eventually.SOON).statusCode() == 200);
    }
  }

  private static JsonNode container(Service service) throws IOException {
    return Manifests.deployed("base/" + service.module() + ".yaml").stream()
        .map(object -> object.at("/spec/template/spec/containers/0"))
        .filter(JsonNode::isObject)
        .findFirst()
        .orElseThrow();
  }
}
