package io.seckill.system.agent.inside;

/** What happens at an armed point. */
public enum PointAction {
  /** The process ends at once: no hook runs, nothing is flushed. */
  HALT,
  /** The thread stands still until the point is released. */
  PAUSE,
  /** The method throws an IllegalStateException, once. */
  THROW,
  /** The method throws a LinkageError, once: nothing that a service expects. */
  ERROR
}
