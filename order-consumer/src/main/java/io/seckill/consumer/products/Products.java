package io.seckill.consumer.products;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.Decider;
import io.seckill.common.sale.SaleState;
import jakarta.persistence.LockModeType;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.springframework.data.jpa.repository.Lock;
import org.springframework.data.jpa.repository.Modifying;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.Repository;

/** The table {@code products}. Every UPDATE names its columns and its condition. */
public interface Products extends Repository<Product, Long> {

  Optional<Product> findBySkuId(long skuId);

  /** Reads the row and locks it until the transaction ends. */
  @Lock(LockModeType.PESSIMISTIC_WRITE)
  @Query("select p from Product p where p.skuId = :skuId")
  Optional<Product> lock(long skuId);

  /** Rewrites all rules of a product that was never preheated; returns 0 when it was. */
  @Modifying(clearAutomatically = true)
  @Query(
      "update Product p set p.name = :name, p.priceCents = :priceCents, p.stock = :stock,"
          + " p.initialStock = :stock, p.policy = :policy, p.limitPerUser = :limitPerUser,"
          + " p.decides = :decides, p.opensAt = :opensAt, p.closesAt = :closesAt"
          + " where p.skuId = :skuId and p.state = NEW")
  int rewrite(
      long skuId,
      String name,
      long priceCents,
      long stock,
      PurchasePolicy policy,
      int limitPerUser,
      Decider decides,
      Instant opensAt,
      Instant closesAt);

  /** Raises the version of a strong sale: purchases decided meanwhile used the old closing time. */
  @Modifying(clearAutomatically = true)
  @Query(
      "update Product p set p.name = :name, p.closesAt = :closesAt, p.stateVersion ="
          + " case when p.phase = REDIS then p.stateVersion else p.stateVersion + 1 end"
          + " where p.skuId = :skuId")
  int rename(long skuId, String name, Instant closesAt);

  /**
   * Begins an epoch: every order admitted in earlier epochs is settled or proven not to be in
   * flight. A rebuild loads the sale with the settings of this preheat.
   *
   * @param lastSeq sequence number to continue from, all up to it settled; computed from the row
   *     that the caller has locked
   */
  @Modifying(clearAutomatically = true)
  @Query(
      "update Product p set p.state = PREHEATED, p.stateVersion = p.stateVersion + 1,"
          + " p.epoch = p.epoch + 1, p.lastSeq = :lastSeq,"
          + " p.settled = :lastSeq, p.maxPerOrder = :maxPerOrder, p.retentionSeconds = :retentionSeconds"
          + " where p.skuId = :skuId and p.state in :from")
  int preheat(
      long skuId, int maxPerOrder, int retentionSeconds, long lastSeq, Collection<SaleState> from);

  /**
   * Returns 0 when the sale is in no state of {@code from}.
   *
   * @param version above that of the row, which the caller has locked
   */
  @Modifying(clearAutomatically = true)
  @Query(
      "update Product p set p.state = :to, p.stateVersion = :version"
          + " where p.skuId = :skuId and p.state in :from")
  int move(long skuId, SaleState to, long version, Collection<SaleState> from);

  /**
   * Sales stopped before their closing time that Redis must not sell: only their state prevents it.
   */
  @Query(
      "select p from Product p where p.state in (PAUSED, CLOSED) and p.closesAt > :now"
          + " and p.phase = REDIS")
  List<Product> findStopped(Instant now);
}
