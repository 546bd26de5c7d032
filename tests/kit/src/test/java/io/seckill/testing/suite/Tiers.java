package io.seckill.testing.suite;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.platform.commons.support.AnnotationSupport;

/** What holds the two tiers of tests together. */
public final class Tiers {

  /** Tag of tests that only {@code scripts/test --proof} and {@code --area} run. */
  public static final String PROOF = "proof";

  private Tiers() {}

  /**
   * Asserts that a test which a mutation relies on runs in the default tier.
   *
   * @param test {@code class#method}
   */
  public static void assertInDefaultTier(String test) {
    int hash = test.indexOf('#');
    try {
      Class<?> type = Class.forName(test.substring(0, hash));
      List<Method> methods =
          Arrays.stream(type.getDeclaredMethods())
              .filter(method -> method.getName().equals(test.substring(hash + 1)))
              .toList();
      assertThat(methods).as("methods of %s", test).isNotEmpty();
      assertThat(AnnotationSupport.findRepeatableAnnotations(type, Tag.class))
          .as("tags of the class of %s", test)
          .noneMatch(tag -> tag.value().equals(PROOF));
      assertThat(methods)
          .as("tags of %s", test)
          .noneMatch(
              method ->
                  AnnotationSupport.findRepeatableAnnotations(method, Tag.class).stream()
                      .anyMatch(tag -> tag.value().equals(PROOF)));
    } catch (ClassNotFoundException e) {
      throw new AssertionError("a mutation names " + test + ", which does not exist", e);
    }
  }
}
