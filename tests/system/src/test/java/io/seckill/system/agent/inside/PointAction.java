package io.seckill.system.agent.inside;

/** The action of an armed failpoint. */
public enum PointAction {
  /** The process ends at once: no hook runs, nothing is flushed. */
  HALT,
  /** The thread waits until the failpoint is released. */
  PAUSE,
  /** The method throws an IllegalStateException, once. */
  THROW,
  /** The method throws a LinkageError, once; no service expects it. */
  ERROR
}
