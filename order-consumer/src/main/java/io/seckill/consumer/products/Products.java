package io.seckill.consumer.products;

import io.seckill.common.sale.SaleState;
import io.seckill.common.sale.Shards;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.web.ProblemException;
import jakarta.persistence.LockModeType;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.springframework.data.jpa.repository.Lock;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.Repository;

/** The products, as operators create, read and edit them. */
public interface Products extends Repository<Product, Long> {

  /** A state that Redis must have. */
  record StateToFollow(long skuId, SaleState state, long epoch, long stateVersion) {}

  /** Inserts a product; one without a version is new. */
  Product save(Product created);

  Optional<Product> findBySkuId(long skuId);

  List<Product> findBySkuIdInOrderBySkuId(Collection<Long> skuIds);

  /** Reads the row and locks it until the transaction ends. */
  @Lock(LockModeType.PESSIMISTIC_WRITE)
  @Query("select p from Product p where p.skuId = :skuId")
  Optional<Product> lock(long skuId);

  /**
   * Sales stopped before their closing time that Redis must not sell, as only their state prevents
   * it; and shards that are open, as an opening leaves out one that does not answer.
   */
  @Query(
      "select p.skuId, p.state, p.epoch, p.stateVersion from Product p"
          + " where (p.state in (PAUSED, CLOSED) or p.state = OPEN and p.skuId >= "
          + Shards.FIRST_ID
          + ") and p.rules.closesAt > :now and p.phase = REDIS")
  List<StateToFollow> findFollowed(Instant now);

  /**
   * Locks the row of the SKU and then those of its shards, in the order of ids, until the caller's
   * transaction ends.
   *
   * @param id of the SKU, or of one of its shards
   * @return the SKU's own row first; empty if there is none
   */
  default List<Product> lockWithShards(long id) {
    List<Product> rows = new ArrayList<>();
    lock(Shards.sku(id))
        .ifPresent(
            sku -> {
              rows.add(sku);
              sku.shardIds().forEach(shard -> rows.add(lock(shard).orElseThrow()));
            });
    return rows;
  }

  /**
   * The row of a SKU with the units of its shards, all of one moment.
   *
   * @throws ProblemException 404 UNKNOWN_SKU
   */
  default ProductRow readWithShards(long skuId) {
    Product sku = findBySkuId(skuId).orElseThrow(Product::unknown);
    List<Long> ids = new ArrayList<>(sku.shardIds());
    if (ids.isEmpty()) {
      return sku.row();
    }
    ids.add(skuId);
    return whole(findBySkuIdInOrderBySkuId(ids).stream().map(Product::row).toList());
  }

  /** The same, of rows that were read, the SKU's own row first. */
  static ProductRow whole(List<ProductRow> rows) {
    return rows.get(0).withUnitsOf(rows.subList(1, rows.size()));
  }
}
