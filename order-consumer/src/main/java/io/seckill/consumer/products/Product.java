package io.seckill.consumer.products;

import io.seckill.common.sale.SaleExpiry;
import io.seckill.common.sale.SalePhase;
import io.seckill.common.sale.SaleState;
import io.seckill.common.sale.Shards;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import jakarta.persistence.Column;
import jakarta.persistence.Embedded;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import jakarta.persistence.Version;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.hibernate.annotations.DynamicUpdate;
import org.jspecify.annotations.Nullable;

/**
 * One row of {@code products}. It changes only while the row is locked ({@link Products#lock}), and
 * the columns that have changed are written at the end of the transaction: purchases and stock
 * changes update stock, lastSeq, changeSeq and settled with statements of their own.
 */
@Entity
@DynamicUpdate
@Table(name = "products")
public class Product {

  private static final long ORDERS_OF_A_SHARD = 50;

  @Id private long skuId;

  /** Number of changes that an edit must not overwrite; null for a product not stored yet. */
  @Version private @Nullable Long version;

  /** The decider is that of the row, which a fallback changes; the stock is the initial one. */
  @Embedded private ProductRules rules;

  private long stock;

  @Enumerated(EnumType.STRING)
  @Column(name = "sale_phase", insertable = false, updatable = false)
  private SalePhase phase;

  @Enumerated(EnumType.STRING)
  private SaleState state = SaleState.NEW;

  private long stateVersion;
  private long epoch;
  private long lastSeq;
  private long changeSeq;
  private long settled;

  /** This column and the next keep the table's default until the first preheat. */
  @SuppressWarnings("UnusedVariable")
  @Column(insertable = false)
  private int maxPerOrder;

  @Column(name = "retention_s", insertable = false)
  private int retentionSeconds;

  @Column(insertable = false, updatable = false)
  private boolean archived;

  /** For Hibernate, which fills the fields. */
  @SuppressWarnings("NullAway.Init")
  protected Product() {}

  Product(long skuId, ProductRules rules) {
    this.skuId = skuId;
    rewrite(rules);
  }

  private void rewrite(ProductRules wanted) {
    wanted.refuseStrongShards();
    rules = wanted;
    stock = wanted.stock();
    phase = SalePhase.of(wanted.decides(), wanted.shards());
  }

  /**
   * Takes all rules before the first preheat; after that, or with orders, only the name and a later
   * closing time. Raises the version of a strong sale: purchases meanwhile used the old time.
   *
   * @param isInRedis whether Redis has a preheat that MySQL has lost
   * @throws ProblemException 409 ARCHIVED, IMMUTABLE_AFTER_PREHEAT naming the immutable member
   */
  Product edit(ProductRules wanted, boolean isInRedis) {
    refuseArchived();
    if (state == SaleState.NEW && settled == 0 && !isInRedis) {
      rewrite(wanted);
    } else {
      configured().refuseImmutable(wanted);
      rules = wanted.with(rules.decides());
      stateVersion += phase.redisDecides() ? 0 : 1;
    }
    return this;
  }

  ProductRules configured() {
    return rules.with(phase.configured());
  }

  /**
   * Begins an epoch: every order admitted in earlier epochs is settled or proven not to be in
   * flight. A rebuild loads the sale with the settings of this preheat.
   *
   * @param seq to continue from, all up to it settled
   * @param known highest epoch that Redis has, as in {@link #move}; 0 for none
   */
  public Product preheat(int maxPerOrder, Duration retention, long seq, long known) {
    state = SaleState.PREHEATED;
    stateVersion++;
    epoch = Math.max(epoch, Math.min(known, epoch + ProductRows.MOST_AHEAD)) + 1;
    lastSeq = seq;
    changeSeq = 0;
    settled = seq;
    this.maxPerOrder = maxPerOrder;
    retentionSeconds = Math.toIntExact(retention.toSeconds());
    return this;
  }

  /**
   * Changes the state, unless the present one does not allow it.
   *
   * @param known number of the last state change that Redis has; the new number is above it, in
   *     case MySQL was restored from a backup
   */
  public Product move(SaleState target, long known) {
    if (SaleState.before(target).contains(state)
        || (target == SaleState.CLOSED && isUnloadedShard())) {
      state = target;
      stateVersion = Math.max(stateVersion, known) + 1;
    }
    return this;
  }

  /** As {@link #move}, or 409 ARCHIVED, ILLEGAL_TRANSITION; NOT_PREHEATED of a shard. */
  public ProductRow moveOrRefuse(SaleState target, long known) {
    if (target != SaleState.CLOSED) {
      refuseArchived();
    }
    if (move(target, known).state == target) {
      return row();
    } else if (target == SaleState.OPEN && Shards.isShard(skuId)) { // its SKU has become OPEN
      throw ProblemException.of(
          ProblemCode.NOT_PREHEATED,
          "Not all of its shards are loaded. Preheat it again only if that has failed.");
    }
    throw ProblemException.ofSale(
        ProblemCode.ILLEGAL_TRANSITION,
        "A sale that is " + state + " cannot become " + target + ".",
        state.name());
  }

  /** The first preheat of its SKU has not come to it, or failed before. */
  private boolean isUnloadedShard() {
    return state == SaleState.NEW && Shards.isShard(skuId);
  }

  /**
   * Makes the shards of a SKU that has some, at its first preheat. Its own row keeps the rest of
   * the stock: the units of no shard.
   *
   * @param maxPerOrder most units of one order
   * @return new products; none if the SKU has no shards, or has them already
   * @throws ProblemException 409 REFUSED when a shard would have fewer than 50 of the largest
   *     orders: the stock would then be sold out while the mover still spreads it
   */
  public List<Product> split(int maxPerOrder) {
    if (state != SaleState.NEW || rules.shards() == 1) {
      return List.of();
    }
    long part = stock / rules.shards();
    long least = ORDERS_OF_A_SHARD * rules.policy().largestOrder(rules.limitPerUser(), maxPerOrder);
    if (part < least) {
      throw ProblemException.of(
          ProblemCode.REFUSED, "A shard would have %d units, and needs %d.".formatted(part, least));
    }
    stock -= part * rules.shards();
    return Shards.ids(skuId, rules.shards()).stream()
        .map(id -> new Product(id, rules.ofShard(part)))
        .toList();
  }

  /** Ids of the shards; none before the first preheat. */
  public List<Long> shardIds() {
    return state == SaleState.NEW ? List.of() : Shards.ids(skuId, rules.shards());
  }

  /** Ids of the products that are bought: those of the shards, or the SKU itself. */
  public List<Long> soldIds() {
    return rules.shards() == 1 ? List.of(skuId) : shardIds();
  }

  /**
   * Throws ProblemException 409 EDIT_CONFLICT when the product has another version than the one
   * that was read, unless an earlier call has made this edit already.
   */
  Product refuseConflict(@Nullable Long readVersion, ProductRules wanted) {
    if (readVersion != null && !readVersion.equals(version) && !configured().equals(wanted)) {
      throw ProblemException.of(
          ProblemCode.EDIT_CONFLICT,
          "It was changed after this edit had begun. Read it again, and repeat the edit.");
    }
    return this;
  }

  /** Takes over from its SKU what has been edited; a shard keeps its stock and decider. */
  Product follow(Product sku) {
    rules = sku.rules.ofShard(rules.stock()).with(rules.decides());
    return this;
  }

  public SaleState state() {
    return state;
  }

  public SalePhase phase() {
    return phase;
  }

  /** Throws ProblemException 409 ARCHIVED: nothing of the sale changes any more. */
  public Product refuseArchived() {
    if (archived) {
      throw archived();
    }
    return this;
  }

  public static ProblemException unknown() {
    return ProblemException.of(ProblemCode.UNKNOWN_SKU);
  }

  public static ProblemException archived() {
    return ProblemException.of(
        ProblemCode.ARCHIVED, "The sale is archived; sell again under another SKU.");
  }

  public long epoch() {
    return epoch;
  }

  public long skuId() {
    return skuId;
  }

  public long initialStock() {
    return rules.stock();
  }

  public long lastSeq() {
    return lastSeq;
  }

  public long changeSeq() {
    return changeSeq;
  }

  public long settled() {
    return settled;
  }

  Instant closesAt() {
    return rules.closesAt();
  }

  /** When the sale's keys in Redis expire. */
  SaleExpiry expiry() {
    return SaleExpiry.of(closesAt(), Duration.ofSeconds(retentionSeconds));
  }

  public ProductRow row() {
    return new ProductRow(
        skuId,
        rules.name(),
        rules.priceCents(),
        stock,
        rules.stock(),
        rules.policy(),
        rules.limitPerUser(),
        phase.decider(),
        phase.fallback(),
        rules.opensAt(),
        rules.closesAt(),
        state,
        stateVersion,
        epoch,
        lastSeq,
        settled,
        rules.shards(),
        version == null ? 0 : version);
  }
}
