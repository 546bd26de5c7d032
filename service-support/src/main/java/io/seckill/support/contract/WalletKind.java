package io.seckill.support.contract;

/** Why money moves between a wallet and the house account of the same name. */
public enum WalletKind {
  /** Money paid in. */
  RECHARGE,
  /** Money taken for a purchase; names a charge, which guards its refunds. */
  CHARGE,
  /** Money of a charge returned, in whole or in part. */
  REFUND,
  /** An operator's correction, in either direction. */
  ADJUST
}
