package io.seckill.consumer.deadletter;

import jakarta.persistence.LockModeType;
import java.util.List;
import java.util.Optional;
import org.springframework.data.domain.Limit;
import org.springframework.data.jpa.repository.Lock;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.Repository;

/** Dead letters, as operators read and resolve them. */
interface DeadLetters extends Repository<DeadLetterRecord, Long> {

  Optional<DeadLetterRecord> findById(long id);

  /** A page by id, the oldest first, after the last dead letter seen. */
  List<DeadLetterRecord> findByIdGreaterThanOrderById(long after, Limit limit);

  List<DeadLetterRecord> findByStateAndIdGreaterThanOrderById(
      DeadLetterState state, long after, Limit limit);

  /**
   * Locks the row until the transaction ends, so that a concurrent replay and discard run one after
   * the other.
   */
  @Lock(LockModeType.PESSIMISTIC_WRITE)
  @Query("select d from DeadLetterRecord d where d.id = :id")
  Optional<DeadLetterRecord> lock(long id);
}
