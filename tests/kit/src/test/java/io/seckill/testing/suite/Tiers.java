package io.seckill.testing.suite;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.platform.commons.support.AnnotationSupport;

/** What holds the two tiers of tests together. */
public final class Tiers {

  /** Tag of tests that only {@code scripts/test --proof} and {@code --area} run. */
  private static final String PROOF = "proof";

  private Tiers() {}

  /** Whether a test is left out of the default tier. */
  public static boolean isProof(Method test) {
    return isTagged(test) || isTagged(test.getDeclaringClass());
  }

  private static boolean isTagged(AnnotatedElement element) {
    return AnnotationSupport.findRepeatableAnnotations(element, Tag.class).stream()
        .anyMatch(tag -> tag.value().equals(PROOF));
  }

  /** A server test starts its servers when its class is initialized. */
  private static Class<?> withoutStarting(String test) throws ClassNotFoundException {
    return Class.forName(test, false, Tiers.class.getClassLoader());
  }

  /**
   * Asserts that a test which a mutation relies on runs in the default tier.
   *
   * @param test {@code class#method}
   */
  public static void assertInDefaultTier(String test) {
    assertThat(isInDefaultTier(test)).as("%s is in the default tier", test).isTrue();
  }

  /**
   * Whether every overload of a test runs in the default tier.
   *
   * @param test {@code class#method}
   */
  public static boolean isInDefaultTier(String test) {
    int hash = test.indexOf('#');
    try {
      List<Method> methods =
          Arrays.stream(withoutStarting(test.substring(0, hash)).getDeclaredMethods())
              .filter(method -> method.getName().equals(test.substring(hash + 1)))
              .toList();
      assertThat(methods).as("methods of %s", test).isNotEmpty();
      return methods.stream().noneMatch(Tiers::isProof);
    } catch (ClassNotFoundException e) {
      throw new AssertionError("a mutation names " + test + ", which does not exist", e);
    }
  }
}
