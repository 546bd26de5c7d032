package io.seckill.consumer.deadletter;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.runtime.UtcColumn;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;

/** Writes dead letters to {@code dead_letter} and {@code dead_letter_rest}. */
@Component
class DeadLetterTable {

  /** Width of the column {@code payload}; {@code dead_letter_rest} has the rest of longer ones. */
  private static final int MAX_PAYLOAD = 4_096;

  /** Below the default {@code max_allowed_packet} of every server. */
  private static final int MAX_PART = 1 << 20;

  /** Also compares the attempts: the clock may have been set back, or be another process's. */
  private static final String FAILED_AGAIN =
      "(VALUES(last_failed_at) > last_failed_at OR VALUES(attempts) > attempts)";

  /**
   * One row per payload. A redelivered message changes nothing; an order that fails again after a
   * replay reopens its row; the ids of a message that was unreadable before are filled in when it
   * can be read now. The assignments are evaluated in the order in which they are written.
   */
  private static final String KEEP =
      "INSERT INTO dead_letter (order_id, sku_id, user_id, payload, payload_bytes, payload_hash,"
          + " routing_key, reason, detail, attempts, first_failed_at, last_failed_at)"
          + " VALUES (?,?,?,?,?,?,?,?,?,?,?,?)"
          + " ON DUPLICATE KEY UPDATE"
          + " order_id = COALESCE(order_id, VALUES(order_id)),"
          + " sku_id = COALESCE(sku_id, VALUES(sku_id)),"
          + " user_id = COALESCE(user_id, VALUES(user_id)),"
          + " payload_bytes = VALUES(payload_bytes),"
          + " routing_key = COALESCE(routing_key, VALUES(routing_key)),"
          + (" state = IF(state = 'REPLAYED' AND " + FAILED_AGAIN + ", 'OPEN', state),")
          + " resolved_by = IF(state = 'OPEN', NULL, resolved_by),"
          + " resolved_reason = IF(state = 'OPEN', NULL, resolved_reason),"
          + " resolved_at = IF(state = 'OPEN', NULL, resolved_at),"
          + (" reason = IF(" + FAILED_AGAIN + ", VALUES(reason), reason),")
          + (" detail = IF(" + FAILED_AGAIN + ", VALUES(detail), detail),")
          + " attempts = GREATEST(attempts, VALUES(attempts)),"
          + " first_failed_at = LEAST(first_failed_at, VALUES(first_failed_at)),"
          + " last_failed_at = GREATEST(last_failed_at, VALUES(last_failed_at))";

  private static final String KEEP_PART =
      "INSERT INTO dead_letter_rest (letter_id, part, bytes)"
          + " SELECT id, ?, ? FROM dead_letter WHERE payload_hash = ?"
          + " ON DUPLICATE KEY UPDATE part = VALUES(part)";

  private final JdbcClient jdbc;
  private final TransactionOperations transactions;

  DeadLetterTable(JdbcClient jdbc, TransactionOperations transactions) {
    this.jdbc = jdbc;
    this.transactions = transactions;
  }

  /** Whether MySQL alone sells the SKU: a message never was an order of it. */
  boolean isOfStrongSale(long skuId) {
    return jdbc.sql("SELECT COUNT(*) FROM products WHERE sku_id = ? AND " + SalePhase.NOT_OF_REDIS)
            .param(skuId)
            .query(Long.class)
            .single()
        > 0;
  }

  /** Writes a dead letter in a transaction; its row may exist already. */
  void keep(DeadLetter letter) {
    byte[] hash = sha256(letter.payload());
    transactions.executeWithoutResult(
        tx -> {
          insert(letter, hash);
          insertRest(letter.payload(), hash);
        });
  }

  private void insertRest(byte[] payload, byte[] hash) {
    int part = 0;
    for (int from = MAX_PAYLOAD; from < payload.length; from += MAX_PART) {
      int to = Math.min(payload.length, from + MAX_PART);
      jdbc.sql(KEEP_PART).params(part++, Arrays.copyOfRange(payload, from, to), hash).update();
    }
  }

  private void insert(DeadLetter letter, byte[] hash) {
    byte[] payload = letter.payload();
    OrderMessage order = letter.order();
    jdbc.sql(KEEP)
        .param(order == null ? null : order.orderId().value())
        .param(order == null ? null : order.skuId())
        .param(order == null ? null : order.userId())
        .param(payload.length <= MAX_PAYLOAD ? payload : Arrays.copyOf(payload, MAX_PAYLOAD))
        .param(payload.length)
        .param(hash)
        .param(letter.routingKey())
        .param(letter.reason().name())
        .param(letter.detail())
        .param(letter.attempts())
        .param(UtcColumn.text(letter.firstFailedAt()))
        .param(UtcColumn.text(letter.lastFailedAt()))
        .update();
  }

  private static byte[] sha256(byte[] payload) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(payload);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
