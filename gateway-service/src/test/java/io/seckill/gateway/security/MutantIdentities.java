package io.seckill.gateway.security;

/** Identities that callers do not have; a mutation calls it instead of the method of that name. */
public final class MutantIdentities {

  private MutantIdentities() {}

  /** Returns another shopper. */
  public static long userId(Identity caller) {
    return caller.userId() + 1;
  }

  /** Makes an operator of everybody. */
  public static boolean isOperator(Identity caller) {
    return true;
  }
}
