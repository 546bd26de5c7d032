package io.seckill.system.kubernetes;

import com.google.gson.JsonParseException;
import io.kubernetes.client.openapi.JSON;
import io.kubernetes.client.openapi.models.V1Affinity;
import io.kubernetes.client.openapi.models.V1ConfigMap;
import io.kubernetes.client.openapi.models.V1Deployment;
import io.kubernetes.client.openapi.models.V1NetworkPolicy;
import io.kubernetes.client.openapi.models.V1PodDisruptionBudget;
import io.kubernetes.client.openapi.models.V1PodSpec;
import io.kubernetes.client.openapi.models.V1ResourceRequirements;
import io.kubernetes.client.openapi.models.V1Service;
import io.kubernetes.client.openapi.models.V1ServiceAccount;
import io.kubernetes.client.openapi.models.V2HorizontalPodAutoscaler;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * Reads objects as the types of the Kubernetes API: an unknown field, a missing required one and a
 * value of another type are errors.
 */
final class ApiTypes {

  private static final Map<String, Class<?>> TYPES =
      Map.of(
          "v1 ConfigMap", V1ConfigMap.class,
          "v1 Service", V1Service.class,
          "v1 ServiceAccount", V1ServiceAccount.class,
          "apps/v1 Deployment", V1Deployment.class,
          "autoscaling/v2 HorizontalPodAutoscaler", V2HorizontalPodAutoscaler.class,
          "networking.k8s.io/v1 NetworkPolicy", V1NetworkPolicy.class,
          "policy/v1 PodDisruptionBudget", V1PodDisruptionBudget.class);

  /**
   * The fields of RabbitmqCluster that we use, of
   * config/crd/bases/rabbitmq.com_rabbitmqclusters.yaml in github.com/rabbitmq/cluster-operator;
   * those of the API's types are read as such.
   */
  private static final Map<String, Class<?>> RABBITMQ_CLUSTER =
      Map.of(
          "replicas", Integer.class,
          "image", String.class,
          "persistence.storage", String.class,
          "persistence.storageClassName", String.class,
          "resources", V1ResourceRequirements.class,
          "affinity", V1Affinity.class,
          "rabbitmq.additionalConfig", String.class,
          "tls.secretName", String.class,
          "override.statefulSet.spec.template.spec", V1PodSpec.class);

  private ApiTypes() {}

  /** Why the API would refuse an object. */
  static Optional<String> refusal(JsonNode object) {
    String kind = object.path("apiVersion").asString() + " " + object.path("kind").asString();
    if (kind.equals("rabbitmq.com/v1beta1 RabbitmqCluster")) {
      return rabbitmqRefusal("", object.path("spec"));
    }
    Class<?> type = TYPES.get(kind);
    return type == null ? Optional.of("unknown type " + kind) : refusal(object, type);
  }

  private static Optional<String> rabbitmqRefusal(String path, JsonNode node) {
    Class<?> type = RABBITMQ_CLUSTER.get(path);
    if (type != null) {
      return refusal(node, type);
    }
    String prefix = path.isEmpty() ? "" : path + ".";
    if (!node.isObject()
        || RABBITMQ_CLUSTER.keySet().stream().noneMatch(field -> field.startsWith(prefix))) {
      return Optional.of("unknown field spec." + path);
    }
    return node.propertyStream()
        .map(field -> rabbitmqRefusal(prefix + field.getKey(), field.getValue()))
        .flatMap(Optional::stream)
        .findFirst();
  }

  private static Optional<String> refusal(JsonNode node, Class<?> type) {
    try {
      var unused = JSON.getGson().fromJson(node.toString(), type);
      return Optional.empty();
    } catch (IllegalArgumentException | JsonParseException e) {
      return Optional.of(String.valueOf(e.getMessage()));
    }
  }
}
