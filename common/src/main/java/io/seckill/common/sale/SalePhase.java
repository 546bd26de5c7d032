package io.seckill.common.sale;

/**
 * The store that decides the purchases of a sale (docs/adr/0021-fallback.md): the column {@code
 * products.sale_phase}, which MySQL makes of {@code decides}, {@code fallback} and {@code shards}.
 * All but STRONG, LOADING and SHARDED are also the states of the fallback as a whole, in {@code
 * fallback.state}.
 */
public enum SalePhase {
  /** Redis, and MySQL stores. */
  REDIS,
  /** MySQL alone, always: a strong sale, or one that is archived. */
  STRONG,
  /** Nobody: a fallback begins, and gateways transfer the orders that they have promised. */
  ENTERING,
  /** MySQL: a sale of Redis in a fallback. */
  MYSQL,
  /** MySQL, while its data are written to Redis. */
  LOADING,
  /** Nobody: the changes since are written to Redis, which decides then. */
  RETURNING,
  /**
   * Its shards, each a sale of its own with a phase of its own (docs/adr/0028): the row has only
   * the units that no shard has, and nobody buys from it.
   */
  SHARDED;

  // SQL conditions on a row of products: redisDecides and isOfRedis, and their opposites.
  public static final String REDIS_DECIDES = "sale_phase = 'REDIS'";
  public static final String REDIS_DOES_NOT_DECIDE = "sale_phase <> 'REDIS'";
  public static final String OF_REDIS =
      "sale_phase IN ('REDIS', 'ENTERING', 'MYSQL', 'LOADING', 'RETURNING')";
  public static final String IN_SHARDS = "sale_phase = 'SHARDED'";
  public static final String NOT_OF_REDIS = "sale_phase IN ('STRONG', 'SHARDED')";

  /** SQL: units that MySQL may sell; the others are kept for orders that Redis has promised. */
  public static final String SELLABLE_UNITS = "stock - reserved_units";

  /** The phase of a sale without a fallback. */
  public static SalePhase of(Decider configured, int shards) {
    return configured == Decider.MYSQL ? STRONG : shards > 1 ? SHARDED : REDIS;
  }

  public boolean redisDecides() {
    return this == REDIS;
  }

  public boolean mySqlDecides() {
    return this == STRONG || this == MYSQL || this == LOADING;
  }

  /** While a sale changes between the two. */
  public boolean nobodyDecides() {
    return this == ENTERING || this == RETURNING;
  }

  /**
   * Whether Redis may have admitted orders of the sale, because it decides it outside fallbacks.
   */
  public boolean isOfRedis() {
    return this != STRONG && this != SHARDED;
  }

  public boolean isInFallback() {
    return isOfRedis() && !redisDecides();
  }

  /** Whether Redis gets what happens to orders: it decides, or its data are being written. */
  public boolean isWrittenToRedis() {
    return redisDecides() || isBeingLoaded();
  }

  /** Whether Redis may lack what has happened to orders, and gets it at the end of the loading. */
  public boolean isBeingLoaded() {
    return this == LOADING || this == RETURNING;
  }

  /** Where purchases go, as the APIs name it; MySQL answers them also while nobody decides. */
  public Decider decider() {
    return redisDecides() || this == SHARDED ? Decider.REDIS : Decider.MYSQL;
  }

  /** The operator's choice. */
  public Decider configured() {
    return this == STRONG ? Decider.MYSQL : Decider.REDIS;
  }

  /** How far the sale is in a fallback, as the APIs and the column {@code fallback} name it. */
  public String fallback() {
    if (!isInFallback()) {
      return "NO";
    }
    return this == MYSQL ? "ACTIVE" : name();
  }
}
