package io.seckill.consumer.products;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.Decider;
import io.seckill.common.sale.SalePhase;
import io.seckill.common.sale.SaleState;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.ProductRow;
import jakarta.persistence.Column;
import jakarta.persistence.Convert;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.time.Duration;
import java.time.Instant;

/**
 * One row of {@code products} as it was read, or one about to be inserted. It has no setters, and
 * no column can be updated through it: other transactions update stock, lastSeq and settled, and
 * flushing an entity would overwrite them with the values that were read. Every change is an UPDATE
 * of {@link Products}.
 */
@Entity
@Table(name = "products")
public class Product {

  @Id
  @Column(name = "sku_id", updatable = false)
  private long skuId;

  @Column(updatable = false)
  private String name;

  @Column(name = "price_cents", updatable = false)
  private long priceCents;

  @Column(updatable = false)
  private long stock;

  @Column(name = "initial_stock", updatable = false)
  private long initialStock;

  @Enumerated(EnumType.STRING)
  @Column(updatable = false)
  private PurchasePolicy policy;

  @Column(name = "limit_per_user", updatable = false)
  private int limitPerUser;

  /** As the operator chose, when it is inserted; a fallback changes it. */
  @SuppressWarnings("UnusedVariable")
  @Enumerated(EnumType.STRING)
  @Column(updatable = false)
  private Decider decides;

  @Enumerated(EnumType.STRING)
  @Column(name = "sale_phase", insertable = false, updatable = false)
  private SalePhase phase;

  @Convert(converter = UtcMillis.class)
  @Column(name = "opens_at", updatable = false)
  private Instant opensAt;

  @Convert(converter = UtcMillis.class)
  @Column(name = "closes_at", updatable = false)
  private Instant closesAt;

  @Enumerated(EnumType.STRING)
  @Column(updatable = false)
  private SaleState state;

  @Column(updatable = false)
  private long epoch;

  @Column(name = "last_seq", updatable = false)
  private long lastSeq;

  @Column(updatable = false)
  private long settled;

  @Column(name = "state_version", insertable = false, updatable = false)
  private long stateVersion;

  /** This column and the next keep the table's default until the first preheat. */
  @SuppressWarnings("UnusedVariable") // for the UPDATE of a preheat
  @Column(name = "max_per_order", insertable = false, updatable = false)
  private int maxPerOrder;

  @Column(name = "retention_s", insertable = false, updatable = false)
  private int retentionSeconds;

  @Column(insertable = false, updatable = false)
  private boolean archived;

  /** For Hibernate, which fills the fields. */
  @SuppressWarnings("NullAway.Init")
  protected Product() {}

  Product(long skuId, ProductRules rules) {
    this.skuId = skuId;
    this.name = rules.name();
    this.priceCents = rules.priceCents();
    this.stock = rules.stock();
    this.initialStock = rules.stock();
    this.policy = rules.policy();
    this.limitPerUser = rules.limitPerUser();
    this.decides = rules.decides();
    this.phase = SalePhase.of(rules.decides());
    this.opensAt = rules.opensAt();
    this.closesAt = rules.closesAt();
    this.state = SaleState.NEW;
  }

  public SaleState state() {
    return state;
  }

  public SalePhase phase() {
    return phase;
  }

  /**
   * @throws ProblemException 409 ARCHIVED: nothing of the sale changes any more
   */
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

  public long stateVersion() {
    return stateVersion;
  }

  public long epoch() {
    return epoch;
  }

  public long skuId() {
    return skuId;
  }

  public long initialStock() {
    return initialStock;
  }

  public long lastSeq() {
    return lastSeq;
  }

  public long settled() {
    return settled;
  }

  Instant closesAt() {
    return closesAt;
  }

  /** How long Redis keeps the sale after its closing. */
  Duration retention() {
    return Duration.ofSeconds(retentionSeconds);
  }

  /** The rules as an edit has to repeat them; stock is the opening stock with all changes. */
  ProductRules rules() {
    return new ProductRules(
        name,
        priceCents,
        initialStock,
        policy,
        limitPerUser,
        phase.configured(),
        opensAt,
        closesAt);
  }

  public ProductRow row() {
    return new ProductRow(
        skuId,
        name,
        priceCents,
        stock,
        initialStock,
        policy,
        limitPerUser,
        phase.decider(),
        phase.fallback(),
        opensAt,
        closesAt,
        state,
        stateVersion,
        epoch,
        lastSeq,
        settled);
  }
}
