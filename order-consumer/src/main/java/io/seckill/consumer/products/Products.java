package io.seckill.consumer.products;

import io.seckill.common.sale.Shards;
import jakarta.persistence.LockModeType;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.springframework.data.jpa.repository.Lock;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.Repository;

/** The products, as operators create, read and edit them. */
public interface Products extends Repository<Product, Long> {

  /** Inserts a product; one without a version is new. */
  Product save(Product created);

  Optional<Product> findBySkuId(long skuId);

  /** Reads the row and locks it until the transaction ends. */
  @Lock(LockModeType.PESSIMISTIC_WRITE)
  @Query("select p from Product p where p.skuId = :skuId")
  Optional<Product> lock(long skuId);

  /**
   * Sales stopped before their closing time that Redis must not sell: only their state prevents it.
   */
  @Query(
      "select p from Product p where p.state in (PAUSED, CLOSED) and p.rules.closesAt > :now"
          + " and p.phase = REDIS")
  List<Product> findStopped(Instant now);

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
}
