package io.seckill.consumer.deadletter;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * A dead letter as operators see it.
 *
 * @param orderId as text, as userId, because both may be above 2^53; null, with skuId and userId,
 *     when the message was unreadable
 * @param payloadBytes length of the whole message; null when an older version has truncated it
 * @param payload the beginning of the message as text: its first 4,096 bytes, which is all of every
 *     order; only when a single dead letter is shown
 * @param payloadBase64 the same bytes, when they are not valid UTF-8
 * @param resolvedBy with resolvedReason and resolvedAt, null while OPEN
 */
record DeadLetterRecord(
    long id,
    @Nullable String orderId,
    @Nullable Long skuId,
    @Nullable String userId,
    String reason,
    String detail,
    int attempts,
    Instant firstFailedAt,
    Instant lastFailedAt,
    DeadLetterState state,
    @Nullable String resolvedBy,
    @Nullable String resolvedReason,
    @Nullable Instant resolvedAt,
    @Nullable Long payloadBytes,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable String payload,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable String payloadBase64) {

  /**
   * @param payload null when it is not to be shown
   */
  static DeadLetterRecord read(ResultSet row, byte @Nullable [] payload) throws SQLException {
    String text = payload == null ? null : new String(payload, StandardCharsets.UTF_8);
    return new DeadLetterRecord(
        row.getLong("id"),
        row.getString("order_id"),
        nullableLong(row, "sku_id"),
        row.getString("user_id"),
        row.getString("reason"),
        row.getString("detail"),
        row.getInt("attempts"),
        utc(row.getObject("first_failed_at", LocalDateTime.class)),
        utc(row.getObject("last_failed_at", LocalDateTime.class)),
        DeadLetterState.valueOf(row.getString("state")),
        row.getString("resolved_by"),
        row.getString("resolved_reason"),
        nullableUtc(row.getObject("resolved_at", LocalDateTime.class)),
        nullableLong(row, "payload_bytes"),
        text,
        text == null || Arrays.equals(text.getBytes(StandardCharsets.UTF_8), payload)
            ? null
            : Base64.getEncoder().encodeToString(payload));
  }

  private static @Nullable Long nullableLong(ResultSet row, String column) throws SQLException {
    long value = row.getLong(column);
    return row.wasNull() ? null : value;
  }

  private static @Nullable Instant nullableUtc(@Nullable LocalDateTime time) {
    return time == null ? null : utc(time);
  }

  private static Instant utc(LocalDateTime time) {
    return time.toInstant(ZoneOffset.UTC);
  }
}
