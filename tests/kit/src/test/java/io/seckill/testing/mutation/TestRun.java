package io.seckill.testing.mutation;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import io.seckill.testing.SharedApplications;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * The result of one run of one test.
 *
 * @param complaint messages of the first failure and of its causes; null when the test passed
 * @param neverLoaded paths of changed files that the test did not load
 */
record TestRun(@Nullable String complaint, Set<String> neverLoaded, long millis) {

  /** Time limit of a test that hangs; it then fails with another message than the expected one. */
  private static final String LIMIT = "2 m";

  /**
   * @throws IllegalArgumentException when there is no such test, or an edit has nothing to change
   */
  static TestRun of(String test, List<Edit> edits, Map<String, String> settings) {
    Thread thread = Thread.currentThread();
    ClassLoader usual = thread.getContextClassLoader();
    MutantLoader loader = new MutantLoader(TestRun.class.getClassLoader(), edits);
    int applications = SharedApplications.count();
    long start = System.nanoTime();
    settings.forEach(System::setProperty);
    thread.setContextClassLoader(loader);
    try {
      @Nullable String complaint = complaint(run(methodOf(test, loader)));
      return new TestRun(complaint, loader.neverLoaded(), (System.nanoTime() - start) / 1_000_000);
    } finally {
      SharedApplications.stopAllBut(applications);
      thread.setContextClassLoader(usual);
      settings.keySet().forEach(System::clearProperty);
    }
  }

  private static Method methodOf(String test, ClassLoader loader) {
    String[] parts = test.split("#", -1);
    try {
      return Arrays.stream(Class.forName(parts[0], false, loader).getDeclaredMethods())
          .filter(method -> method.getName().equals(parts[1]))
          .findFirst()
          .orElseThrow(() -> new IllegalArgumentException("no test " + test));
    } catch (ClassNotFoundException e) {
      throw new IllegalArgumentException("no test " + test, e);
    }
  }

  private static TestExecutionSummary run(Method method) {
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(selectMethod(method.getDeclaringClass(), method))
            .configurationParameter(
                "junit.jupiter.execution.timeout.testable.method.default", LIMIT)
            .build();
    LauncherConfig config =
        LauncherConfig.builder()
            .enableTestExecutionListenerAutoRegistration(false)
            .enableLauncherSessionListenerAutoRegistration(false)
            .build();
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    LauncherFactory.create(config).execute(request, listener);
    return listener.getSummary();
  }

  private static @Nullable String complaint(TestExecutionSummary summary) {
    if (!summary.getFailures().isEmpty()) {
      StringBuilder messages = new StringBuilder();
      Throwable failure = summary.getFailures().get(0).getException();
      for (@Nullable Throwable t = failure; t != null; t = t.getCause()) {
        messages.append(t).append('\n');
      }
      return messages.toString();
    }
    if (summary.getTestsSucceededCount() == 0) {
      throw new IllegalStateException("no test ran");
    }
    return null;
  }
}
