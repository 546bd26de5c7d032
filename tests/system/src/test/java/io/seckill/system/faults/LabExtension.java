package io.seckill.system.faults;

import io.seckill.system.guarantee.RunHistory;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Provides fault tests with a {@link PipelineLab} that the tests of a JVM share. It is started for
 * the first of them, ends with {@link #closeAll}, or with the first test on another type or {@link
 * Channel}, and is healed after each test. A failed test may leave sales and probes that cannot be
 * healed, so the next test gets a new lab and one failure causes no others. What a failed test
 * judged is written to a file.
 */
public abstract class LabExtension
    implements ParameterResolver, AfterEachCallback, AfterAllCallback {

  private static final Path HISTORIES = Path.of("target", "histories");

  /** Static, to be shared in the JVM: Surefire runs each class of a fork separately. */
  private static final Labs LABS = new Labs();

  private final Class<? extends PipelineLab> type;

  protected LabExtension(Class<? extends PipelineLab> type) {
    this.type = type;
  }

  /** Ends the labs that run, before tests that need none. */
  public static void closeAll() {
    LABS.discardAll();
  }

  /** Starts a lab of its type. */
  protected abstract PipelineLab start(Channel channel, FaultReport report);

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == type;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return labFor(context);
  }

  @Override
  public void afterEach(ExtensionContext context) {
    boolean held = false;
    try {
      if (context.getExecutionException().orElse(null) instanceof BrokenRunError broken) {
        write(broken.history(), context.getRequiredTestClass());
      }
      if (context.getExecutionException().isEmpty()) {
        PipelineLab lab = labFor(context);
        lab.heal();
        lab.awaitHealed();
        held = true;
      }
    } finally {
      if (!held) {
        LABS.discard(this, channel(context));
      }
    }
  }

  /** Two classes may run the same row, on different channels. */
  private static void write(RunHistory history, Class<?> test) {
    String name = test.getSimpleName() + "-" + history.row().replaceAll("\\W+", "-");
    Path file = HISTORIES.resolve(name + ".json").toAbsolutePath();
    history.write(file);
    System.out.println("[faults] judge it again with scripts/test --judge " + file);
  }

  @Override
  public void afterAll(ExtensionContext context) {
    LABS.report.write();
  }

  private PipelineLab labFor(ExtensionContext context) {
    return LABS.get(this, channel(context));
  }

  private static Channel channel(ExtensionContext context) {
    return Channel.of(context.getRequiredTestClass());
  }

  /**
   * The running labs, and the report on all labs. An idle lab takes half of a processor, so only
   * the one in use runs; starting one takes half a minute.
   */
  private static final class Labs {

    private final FaultReport report = new FaultReport();

    /** By type and channel. */
    private final Map<List<Object>, PipelineLab> running = new HashMap<>();

    private PipelineLab get(LabExtension wanted, Channel channel) {
      List<Object> key = List.of(wanted.type, channel);
      List.copyOf(running.keySet()).stream()
          .filter(other -> !other.equals(key))
          .forEach(this::discard);
      if (!running.containsKey(key)) {
        BuildLock.hold(() -> running.put(key, wanted.start(channel, report)));
      }
      return running.get(key);
    }

    private void discardAll() {
      List.copyOf(running.keySet()).forEach(this::discard);
    }

    private void discard(LabExtension wanted, Channel channel) {
      discard(List.of(wanted.type, channel));
    }

    private void discard(List<Object> key) {
      PipelineLab lab = running.remove(key);
      if (lab != null) {
        lab.close();
      }
    }
  }
}
