/**
 * Changes methods of a running service from outside, for tests only: the product has no hooks.
 *
 * <p>A test lists the methods to change ({@link io.seckill.system.agent.Advised}), starts the
 * service with {@link io.seckill.system.agent.AgentServer#jvmFlag} and then arms failpoints and
 * shifts clocks through its {@link io.seckill.system.agent.AgentSession}. A class or method that
 * does not exist is an error before the process starts.
 */
package io.seckill.system.agent;
