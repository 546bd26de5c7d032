package io.seckill.consumer.deadletter;

import io.seckill.consumer.store.UtcText;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.util.Arrays;
import java.util.List;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

/** Writes the rows of {@code dead_letter} that come from the dead queue. */
@Component
class DeadLetterTable {

  /** Width of the column; the hash is over all of it. */
  private static final int MAX_PAYLOAD = 4_096;

  /**
   * One row per payload. The same message again changes nothing; the same order failing again,
   * after a replay, opens its row again. The assignments are evaluated in the order they stand.
   */
  private static final String KEEP =
      "INSERT INTO dead_letter (order_id, sku_id, user_id, payload, payload_hash, reason, detail,"
          + " attempts, first_failed_at, last_failed_at) VALUES (?,?,?,?,?,?,?,?,?,?)"
          + " ON DUPLICATE KEY UPDATE"
          + " state = IF(state = 'REPLAYED' AND VALUES(last_failed_at) > last_failed_at,"
          + " 'OPEN', state),"
          + " reason = IF(VALUES(last_failed_at) > last_failed_at, VALUES(reason), reason),"
          + " detail = IF(VALUES(last_failed_at) > last_failed_at, VALUES(detail), detail),"
          + " attempts = GREATEST(attempts, VALUES(attempts)),"
          + " first_failed_at = LEAST(first_failed_at, VALUES(first_failed_at)),"
          + " last_failed_at = GREATEST(last_failed_at, VALUES(last_failed_at))";

  private final JdbcTemplate jdbc;

  DeadLetterTable(DataSource dataSource) {
    this.jdbc = new JdbcTemplate(dataSource);
  }

  /** Writes all, each committed by itself; any may be there already. */
  void keep(List<DeadLetter> letters) {
    for (DeadLetter letter : letters) {
      jdbc.update(KEEP, statement -> set(statement, letter));
    }
  }

  private static void set(PreparedStatement keep, DeadLetter letter) throws SQLException {
    byte[] payload = letter.payload();
    if (letter.order() == null) {
      keep.setNull(1, Types.BIGINT);
      keep.setNull(2, Types.BIGINT);
      keep.setNull(3, Types.BIGINT);
    } else {
      keep.setLong(1, letter.order().orderId().value());
      keep.setLong(2, letter.order().skuId());
      keep.setLong(3, letter.order().userId());
    }
    keep.setBytes(4, payload.length <= MAX_PAYLOAD ? payload : Arrays.copyOf(payload, MAX_PAYLOAD));
    keep.setBytes(5, sha256(payload));
    keep.setString(6, letter.reason().name());
    keep.setString(7, letter.detail());
    keep.setInt(8, letter.attempts());
    keep.setString(9, UtcText.of(letter.firstFailedAt()));
    keep.setString(10, UtcText.of(letter.lastFailedAt()));
  }

  private static byte[] sha256(byte[] payload) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(payload);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
