package io.seckill.relay;

import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.seckill.testing.architecture.AllowedFeatures;

@AnalyzeClasses(packages = "io.seckill.relay")
class RelayFeaturesTest {

  @ArchTest
  static final ArchRule featuresUseOnlyWhatIsListed =
      new AllowedFeatures("relay")
          .feature("publish")
          .feature("recovery")
          .feature("lane", "publish", "recovery")
          .rule();
}
