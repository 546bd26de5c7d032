/**
 * Changes methods of a running service from outside, for tests only: the product has no hooks.
 *
 * <p>A test lists what it wants changed ({@link io.seckill.system.agent.Advised}), starts the
 * service with {@link io.seckill.system.agent.AgentServer#jvmFlag} and then arms points and moves
 * clocks through its {@link io.seckill.system.agent.AgentSession}. A class or method that does not
 * exist fails before the process starts.
 */
@NullMarked
package io.seckill.system.agent;

import org.jspecify.annotations.NullMarked;
