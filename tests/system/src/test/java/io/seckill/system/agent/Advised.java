package io.seckill.system.agent;

import io.seckill.system.agent.inside.EntryPoint;
import io.seckill.system.agent.inside.ExitPoint;

/**
 * One method of a service that the agent changes.
 *
 * @param name the name that failpoints and sessions use; no blanks
 * @param className binary name, {@code io.seckill.…} in the service's jar or a class of the JDK
 * @param method name of the method; every overload is changed
 * @param advice a class with ByteBuddy advice in the package {@code inside}; it may take the name
 *     as {@link io.seckill.system.agent.inside.Name}
 */
public record Advised(String name, String className, String method, Class<?> advice) {

  public Advised {
    if ((name + className + method).contains(" ")) {
      throw new IllegalArgumentException("blanks are not allowed: " + name);
    }
  }

  /** A failpoint that is reached when the method is called. */
  public static Advised before(String name, String className, String method) {
    return new Advised(name, className, method, EntryPoint.class);
  }

  /** A failpoint that is reached when the method is about to return; not when it throws. */
  public static Advised after(String name, String className, String method) {
    return new Advised(name, className, method, ExitPoint.class);
  }

  String line() {
    return name + ' ' + className + ' ' + method + ' ' + advice.getName();
  }
}
