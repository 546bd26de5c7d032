package io.seckill.gateway;

import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.seckill.testing.architecture.AllowedFeatures;

@AnalyzeClasses(packages = "io.seckill.gateway")
class GatewayFeaturesTest {

  @ArchTest
  static final ArchRule featuresUseOnlyWhatIsListed =
      new AllowedFeatures("gateway")
          .feature("security")
          .feature("web", "security")
          .feature("batching")
          .feature("backends", "batching")
          .feature("catalogue", "backends")
          .feature("fallback", "catalogue", "backends")
          .feature("wallet", "backends", "web", "security")
          .feature("shards", "backends", "batching")
          .feature("ids", "backends", "security")
          .feature("verification", "ids", "backends")
          .feature("orders", "verification", "catalogue", "backends", "batching", "web", "security")
          .feature(
              "admission",
              "verification",
              "shards",
              "ids",
              "orders",
              "fallback",
              "catalogue",
              "backends",
              "batching",
              "web",
              "security")
          .feature("admin", "catalogue", "backends", "web")
          .feature("ops", "admission", "verification", "fallback", "catalogue", "backends", "web")
          .feature("warmup", "security")
          .rule();
}
