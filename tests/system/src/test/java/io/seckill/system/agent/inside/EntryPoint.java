package io.seckill.system.agent.inside;

import net.bytebuddy.asm.Advice;

/** Notifies {@link FailpointRegistry} that a method was called. */
public final class EntryPoint {

  private EntryPoint() {}

  @Advice.OnMethodEnter
  public static void enter(@Name String name) {
    FailpointRegistry.reached(name);
  }
}
