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
          .feature("storage", "orders", "runtime", "web")
          .feature("wallet", "payment", "storage", "orders", "runtime", "web")
          .feature("deadletter", "storage", "orders", "runtime", "web")
          .feature("intake", "deadletter", "payment", "storage", "orders", "runtime")
          .feature("products", "runtime", "web")
          .feature("fallback", "products", "storage", "orders", "runtime", "web")
          .feature("loading", "products", "fallback", "storage", "orders", "runtime", "web")
          .feature("sales", "loading", "products", "runtime", "web")
          .feature("shards", "sales", "products", "runtime")
          .feature("ledger", "intake", "products", "orders", "runtime", "web")
          .feature(
              "reconciliation",
              "loading",
              "products",
              "fallback",
              "storage",
              "orders",
              "runtime",
              "web")
          .feature(
              "audit",
              "wallet",
              "reconciliation",
              "loading",
              "products",
              "orders",
              "runtime",
              "web")
          .feature(
              "archive",
              "ledger",
              "sales",
              "loading",
              "products",
              "storage",
              "orders",
              "runtime",
              "web")
          .rule();
}
