package io.seckill.consumer;

import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.seckill.testing.architecture.AllowedFeatures;

@AnalyzeClasses(packages = "io.seckill.consumer")
class ConsumerFeaturesTest {

  @ArchTest
  static final ArchRule featuresUseOnlyWhatIsListed =
      new AllowedFeatures("consumer")
          .feature("web")
          .feature("runtime")
          .feature("orders", "runtime")
          .feature("payment", "orders", "runtime", "web")
          .feature("storage", "orders", "runtime")
          .feature("strong", "storage", "web")
          .feature("deadletter", "storage", "orders", "runtime", "web")
          .feature("intake", "deadletter", "payment", "storage", "orders", "runtime")
          .feature("fallback", "storage", "orders", "runtime", "web")
          .feature("catalogue", "fallback", "storage", "orders", "runtime", "web")
          .feature(
              "consistency",
              "catalogue",
              "fallback",
              "intake",
              "storage",
              "orders",
              "runtime",
              "web")
          .feature("audit", "consistency", "catalogue", "orders", "runtime", "web")
          .feature("archive", "consistency", "catalogue", "storage", "orders", "runtime", "web")
          .rule();
}
