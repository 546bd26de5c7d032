package io.seckill.testing.architecture;

import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.Architectures.LayeredArchitecture;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which features of a service may use which: a feature uses those beside it in the list and no
 * others. A feature may only name features that stand above it, so the list has no cycle. It holds
 * for tests too, which may also use the fixtures in {@code testing} and the service's base package.
 */
public final class AllowedFeatures {

  private static final String FIXTURES = "testing";

  private final String base;
  private final Map<String, Set<String>> features = new LinkedHashMap<>();

  /**
   * @param module last part of the service's base package: gateway, relay, consumer
   */
  public AllowedFeatures(String module) {
    this.base = "io.seckill." + module;
  }

  /**
   * @param uses features that stand above this one
   */
  public AllowedFeatures feature(String name, String... uses) {
    if (!features.keySet().containsAll(List.of(uses))) {
      throw new IllegalArgumentException(name + " uses a feature that does not stand above it");
    }
    features.put(name, new LinkedHashSet<>(List.of(uses)));
    return this;
  }

  /** Every package must be a feature of the list, and every feature a package. */
  public ArchRule rule() {
    LayeredArchitecture rule =
        layeredArchitecture()
            .consideringOnlyDependenciesInLayers()
            .optionalLayer(FIXTURES)
            .definedBy(base + "." + FIXTURES + "..");
    for (String feature : features.keySet()) {
      rule = rule.layer(feature).definedBy(base + "." + feature + "..");
    }
    for (Map.Entry<String, Set<String>> feature : features.entrySet()) {
      Set<String> allowed = new LinkedHashSet<>(feature.getValue());
      allowed.add(FIXTURES);
      rule = rule.whereLayer(feature.getKey()).mayOnlyAccessLayers(allowed.toArray(String[]::new));
    }
    return rule.ensureAllClassesAreContainedInArchitectureIgnoring(base);
  }
}
