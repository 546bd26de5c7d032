package io.seckill.consumer.deadletter;

import com.fasterxml.jackson.annotation.JsonAutoDetect;
import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import io.seckill.common.order.OrderMessage;
import io.seckill.support.web.Operator;
import io.seckill.support.web.SkuIdSerializer;
import jakarta.persistence.CollectionTable;
import jakarta.persistence.Column;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.OrderColumn;
import jakarta.persistence.Table;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.hibernate.annotations.DynamicUpdate;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.annotation.JsonSerialize;

/** A row of {@code dead_letter}, as operators see it and resolve it. */
@SuppressWarnings("UnusedVariable") // Jackson reads the fields
@Entity
@DynamicUpdate
@Table(name = "dead_letter")
@JsonAutoDetect(fieldVisibility = Visibility.ANY)
@JsonPropertyOrder(alphabetic = false)
class DeadLetterRecord {

  @Id private long id;

  /**
   * As text, as userId, because both may be above 2^53; null, with skuId and userId, when the
   * message was unreadable.
   */
  private @Nullable String orderId;

  @JsonSerialize(using = SkuIdSerializer.class)
  private @Nullable Long skuId;

  private @Nullable String userId;
  private String reason;
  private String detail;
  private int attempts;
  private Instant firstFailedAt;
  private Instant lastFailedAt;

  @Enumerated(EnumType.STRING)
  private DeadLetterState state;

  /** With resolvedReason and resolvedAt, null while OPEN. */
  private @Nullable String resolvedBy;

  private @Nullable String resolvedReason;
  private @Nullable Instant resolvedAt;

  /** Length of the whole message; null when an older version has truncated it. */
  private @Nullable Long payloadBytes;

  /** With which the message was published; null when unknown. */
  @JsonIgnore private @Nullable String routingKey;

  /** The first 4,096 bytes of the message. */
  @JsonIgnore
  @Column(name = "payload")
  private byte[] beginning;

  @JsonIgnore
  @ElementCollection
  @CollectionTable(name = "dead_letter_rest", joinColumns = @JoinColumn(name = "letter_id"))
  @OrderColumn(name = "part")
  @Column(name = "bytes")
  private List<byte[]> rest;

  /** For Hibernate, which fills the fields. */
  @SuppressWarnings("NullAway.Init")
  protected DeadLetterRecord() {}

  long id() {
    return id;
  }

  @Nullable String orderId() {
    return orderId;
  }

  int attempts() {
    return attempts;
  }

  Instant firstFailedAt() {
    return firstFailedAt;
  }

  DeadLetterState state() {
    return state;
  }

  @Nullable String routingKey() {
    return routingKey;
  }

  /** The beginning of the message as text: all of every order. */
  @JsonProperty
  String payload() {
    return new String(beginning, StandardCharsets.UTF_8);
  }

  /** The same bytes, when they are not valid UTF-8. */
  @JsonProperty
  @JsonInclude(JsonInclude.Include.NON_NULL)
  @Nullable String payloadBase64() {
    return Arrays.equals(payload().getBytes(StandardCharsets.UTF_8), beginning)
        ? null
        : Base64.getEncoder().encodeToString(beginning);
  }

  /** The message as received, in the transaction that has read this; null when it is truncated. */
  byte @Nullable [] message() {
    if (payloadBytes == null) {
      return null;
    }
    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    whole.writeBytes(beginning);
    rest.forEach(whole::writeBytes);
    if (whole.size() != payloadBytes) {
      throw new IllegalStateException("dead letter " + id + " has lost parts of its message");
    }
    return whole.toByteArray();
  }

  /** The decoded message; null when it is truncated or cannot be read. */
  @Nullable OrderMessage order() {
    byte[] message = message();
    return message == null ? null : DeadLetter.orderIn(message);
  }

  void resolve(DeadLetterState resolved, Operator operator, @Nullable String why) {
    state = resolved;
    resolvedBy = operator.name();
    resolvedReason = why;
    resolvedAt = Instant.now();
  }
}
