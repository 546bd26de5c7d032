package io.seckill.consumer.deadletter;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.UnreadableMessageException;
import io.seckill.support.web.Operator;
import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemException;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Reads dead letters, and writes how they were resolved. */
@Component
class DeadLetterRecords {

  private static final String COLUMNS =
      "id, order_id, sku_id, user_id, reason, detail, attempts, first_failed_at, last_failed_at,"
          + " state, resolved_by, resolved_reason, resolved_at, payload_bytes";

  private final JdbcClient jdbc;

  DeadLetterRecords(JdbcClient jdbc) {
    this.jdbc = jdbc;
  }

  /**
   * A locked letter with its message.
   *
   * @param payload complete, as received; null when an older version has truncated it
   * @param routingKey with which it was published; null when unknown
   */
  @SuppressWarnings("ArrayRecordComponent") // handed over, never compared
  record Message(
      DeadLetterState state,
      byte @Nullable [] payload,
      @Nullable String routingKey,
      int attempts,
      long firstFailedAtMs) {

    /** The decoded payload; null when it cannot be read. */
    @Nullable OrderMessage order() {
      try {
        return payload == null ? null : OrderMessageCodec.decode(payload);
      } catch (UnreadableMessageException e) {
        return null;
      }
    }
  }

  /**
   * A page by id, oldest first.
   *
   * @param state null for all
   * @param after id of the last letter seen, 0 for the first page
   */
  List<DeadLetterRecord> page(@Nullable DeadLetterState state, long after, int limit) {
    String condition = state == null ? "" : "state = ? AND ";
    List<Object> parameters = new ArrayList<>();
    if (state != null) {
      parameters.add(state.name());
    }
    parameters.add(after);
    parameters.add(limit);
    return jdbc.sql(
            "SELECT "
                + COLUMNS
                + " FROM dead_letter WHERE "
                + condition
                + "id > ? ORDER BY id LIMIT ?")
        .params(parameters)
        .query((row, number) -> DeadLetterRecord.read(row, null))
        .list();
  }

  /**
   * @throws ProblemException 404 UNKNOWN_DEAD_LETTER
   */
  DeadLetterRecord show(long id) {
    return jdbc.sql("SELECT " + COLUMNS + ", payload FROM dead_letter WHERE id = ?")
        .param(id)
        .query((row, number) -> DeadLetterRecord.read(row, row.getBytes("payload")))
        .optional()
        .orElseThrow(DeadLetterRecords::unknown);
  }

  /**
   * Locks the row until the transaction ends, so that a concurrent replay and discard run one after
   * the other.
   *
   * @throws ProblemException 404 UNKNOWN_DEAD_LETTER
   */
  Message lock(long id) {
    return jdbc.sql(
            "SELECT state, payload, payload_bytes, routing_key, attempts,"
                + " TIMESTAMPDIFF(MICROSECOND, '1970-01-01', first_failed_at) DIV 1000 AS first_at"
                + " FROM dead_letter WHERE id = ? FOR UPDATE")
        .param(id)
        .query(
            (row, number) ->
                new Message(
                    DeadLetterState.valueOf(row.getString("state")),
                    whole(id, row.getBytes("payload"), row.getLong("payload_bytes")),
                    row.getString("routing_key"),
                    row.getInt("attempts"),
                    row.getLong("first_at")))
        .optional()
        .orElseThrow(DeadLetterRecords::unknown);
  }

  /**
   * @param bytes length of the whole message; 0 when the rest is lost
   */
  private byte @Nullable [] whole(long id, byte[] beginning, long bytes) {
    if (bytes <= beginning.length) {
      return bytes == beginning.length ? beginning : null;
    }
    ByteArrayOutputStream whole = new ByteArrayOutputStream((int) bytes);
    whole.writeBytes(beginning);
    jdbc.sql("SELECT bytes FROM dead_letter_rest WHERE letter_id = ? ORDER BY part")
        .param(id)
        .query((row, number) -> row.getBytes("bytes"))
        .list()
        .forEach(whole::writeBytes);
    if (whole.size() != bytes) {
      throw new IllegalStateException("dead letter " + id + " has lost parts of its message");
    }
    return whole.toByteArray();
  }

  void resolve(long id, DeadLetterState state, Operator operator, @Nullable String reason) {
    jdbc.sql(
            "UPDATE dead_letter SET state = ?, resolved_by = ?, resolved_reason = ?,"
                + " resolved_at = NOW(6) WHERE id = ?")
        .param(state.name())
        .param(operator.name())
        .param(reason)
        .param(id)
        .update();
  }

  private static ProblemException unknown() {
    return ProblemException.notFound(Problem.UNKNOWN_DEAD_LETTER, "There is no such dead letter.");
  }
}
