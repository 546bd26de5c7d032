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
          .feature("backends")
          .feature("catalogue", "backends")
          .feature("fallback", "catalogue", "backends")
          .feature("orders", "catalogue", "backends", "web", "security")
          .feature("admission", "orders", "fallback", "catalogue", "backends", "web", "security")
          .feature("admin", "catalogue", "backends", "web")
          .feature("ops", "catalogue", "backends")
          .feature("warmup", "security")
          .rule();
}
