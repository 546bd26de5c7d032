package io.seckill.gateway.security;

/** How many gateways share the rate limits. */
@FunctionalInterface
public interface RunningGateways {

  /** From 1, this one included: the last number known, and 1 as long as none is. Never waits. */
  int count();
}
