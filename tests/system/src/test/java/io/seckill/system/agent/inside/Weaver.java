package io.seckill.system.agent.inside;

import static net.bytebuddy.matcher.ElementMatchers.named;
import static net.bytebuddy.matcher.ElementMatchers.none;

import java.lang.instrument.Instrumentation;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.dynamic.scaffold.TypeValidation;
import net.bytebuddy.utility.JavaModule;
import org.jspecify.annotations.Nullable;

/** Adds advices to classes: at once to those that are loaded, to others when they are. */
final class Weaver {

  private Weaver() {}

  /** One line of the list: name, class, method, class of the advice. */
  private record Line(String name, String className, String method, Class<?> advice) {

    static Line of(String text) {
      String[] words = text.split(" ", -1);
      try {
        return new Line(words[0], words[1], words[2], Class.forName(words[3]));
      } catch (ClassNotFoundException e) {
        throw new IllegalArgumentException("no advice " + words[3], e);
      }
    }
  }

  static void weave(List<String> advices, Instrumentation instrumentation) {
    List<Line> lines = advices.stream().map(Line::of).toList();
    Set<String> classNames = lines.stream().map(Line::className).collect(Collectors.toSet());
    Class<?>[] loaded =
        Arrays.stream(instrumentation.getAllLoadedClasses())
            .filter(type -> classNames.contains(type.getName()))
            .toArray(Class<?>[]::new);
    AgentBuilder agent =
        new AgentBuilder.Default(new ByteBuddy().with(TypeValidation.DISABLED))
            .disableClassFormatChanges()
            .with(AgentBuilder.RedefinitionStrategy.RETRANSFORMATION)
            .with(new AgentBuilder.RedefinitionStrategy.DiscoveryStrategy.Explicit(loaded))
            .with(new EndsTheProcess())
            .ignore(none());
    for (String className : classNames) {
      List<Line> ofClass =
          lines.stream().filter(line -> line.className().equals(className)).toList();
      agent =
          agent
              .type(named(className))
              .transform((builder, type, loader, module, domain) -> changed(builder, ofClass));
    }
    agent.installOn(instrumentation);
  }

  private static DynamicType.Builder<?> changed(DynamicType.Builder<?> builder, List<Line> lines) {
    DynamicType.Builder<?> changed = builder;
    for (Line line : lines) {
      changed =
          changed.visit(
              Advice.withCustomMapping()
                  .bind(Name.class, line.name())
                  .to(line.advice())
                  .on(named(line.method())));
    }
    return changed;
  }

  /** A class that could not be changed must not run unchanged. */
  private static final class EndsTheProcess extends AgentBuilder.Listener.Adapter {
    @Override
    public void onError(
        String typeName,
        @Nullable ClassLoader loader,
        @Nullable JavaModule module,
        boolean loaded,
        Throwable cause) {
      FaultAgent.fail("cannot change " + typeName, cause);
    }

    @Override
    public void onTransformation(
        TypeDescription type,
        @Nullable ClassLoader loader,
        @Nullable JavaModule module,
        boolean loaded,
        DynamicType dynamicType) {
      FaultAgent.tell("changed " + type.getName());
    }
  }
}
