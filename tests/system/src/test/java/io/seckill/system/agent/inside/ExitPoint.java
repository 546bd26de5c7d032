package io.seckill.system.agent.inside;

import net.bytebuddy.asm.Advice;

/** Notifies {@link FailpointRegistry} that a method is about to return. */
public final class ExitPoint {

  private ExitPoint() {}

  @Advice.OnMethodExit
  public static void exit(@Name String name) {
    FailpointRegistry.reached(name);
  }
}
