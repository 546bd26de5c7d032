package io.seckill.common.order;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonParser.NumberType;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.json.JsonFactory;

/**
 * The order message as JSON, UTF-8, in the member order that {@code admit.lua} writes.
 *
 * <p>Reading ignores members it does not know, so that a later release may add some within version
 * 1. Everything else is strict: repeated members, other JSON types, trailing text and anything out
 * of bounds are refused. A message of another version is refused for its version, before its
 * members are read.
 */
public final class OrderMessageCodec {

  /** Far above the longest valid message (about 400 bytes). */
  public static final int MAX_BYTES = 4_096;

  /** Its parsers read UTF-8 alone, and refuse a repeated member. */
  public static final JsonFactory JSON =
      JsonFactory.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .disable(TokenStreamFactory.Feature.CHARSET_DETECTION) // UTF-8 only
          .build();

  private OrderMessageCodec() {}

  /** The JSON text. No member can contain a character that needs escaping. */
  public static String encode(OrderMessage message) {
    StringBuilder json = new StringBuilder(256);
    json.append("{\"v\":").append(OrderMessage.VERSION);
    json.append(",\"orderId\":\"").append(message.orderId()).append('"');
    json.append(",\"userId\":").append(message.userId());
    json.append(",\"skuId\":").append(message.skuId());
    json.append(",\"quantity\":").append(message.quantity());
    json.append(",\"requestId\":\"").append(message.requestId()).append('"');
    if (message.traceparent() != null) {
      json.append(",\"traceparent\":\"").append(message.traceparent()).append('"');
    }
    json.append(",\"policy\":\"").append(message.policy()).append('"');
    json.append(",\"epoch\":").append(message.epoch());
    json.append(",\"seq\":").append(message.seq());
    json.append(",\"admittedAt\":").append(message.admittedAt()).append('}');
    return json.toString();
  }

  /**
   * @param body at most {@value #MAX_BYTES} bytes
   * @throws UnsupportedVersionException when its version is not 1
   * @throws UnreadableMessageException when it is not a version 1 message within bounds
   */
  public static OrderMessage decode(byte[] body) throws UnreadableMessageException {
    if (body.length > MAX_BYTES) {
      throw new UnreadableMessageException("message of " + body.length + " bytes");
    }
    try (JsonParser parser = JSON.createParser(ObjectReadContext.empty(), body)) {
      return read(parser);
    } catch (JacksonException e) {
      throw new UnreadableMessageException("not JSON: " + firstLine(e.getOriginalMessage()));
    } catch (IllegalArgumentException e) {
      throw new UnreadableMessageException(String.valueOf(e.getMessage()));
    }
  }

  /** As {@link #decode(byte[])}, for text that came from Redis. */
  public static OrderMessage decode(String json) throws UnreadableMessageException {
    return decode(json.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * Time since the admission of an order that waits in Redis; 0 for none, or an unreadable one,
   * which becomes a dead letter when a lane takes it.
   *
   * @param json empty for none
   * @param nowMs Redis's clock, Unix ms
   */
  public static long ageMs(String json, long nowMs) {
    try {
      return json.isEmpty() ? 0 : Math.max(0, nowMs - decode(json).admittedAt());
    } catch (UnreadableMessageException e) {
      return 0;
    }
  }

  private static OrderMessage read(JsonParser parser) throws UnreadableMessageException {
    Fields fields = new Fields();
    expect(parser.nextToken() == JsonToken.START_OBJECT, "not a JSON object");
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      String name = parser.currentName();
      parser.nextToken();
      fields.read(name, parser);
    }
    expect(parser.nextToken() == null, "text after the message");
    return fields.toMessage();
  }

  private static void expect(boolean ok, String otherwise) throws UnreadableMessageException {
    if (!ok) {
      throw new UnreadableMessageException(otherwise);
    }
  }

  private static String firstLine(@Nullable String text) {
    return text == null ? "" : text.lines().findFirst().orElse("");
  }

  /** Members read so far; 0 and null mean absent, and are out of bounds for required members. */
  private static final class Fields {
    private long version;
    private @Nullable String orderId;
    private long userId;
    private long skuId;
    private long quantity;
    private @Nullable String requestId;
    private @Nullable String traceparent;
    private @Nullable String policy;
    private long epoch;
    private long seq;
    private long admittedAt;

    /** The first wrong type found; reported at the end, because the version may come last. */
    private @Nullable String wrongType;

    void read(String name, JsonParser parser) {
      switch (name) {
        case "v" -> version = integer(name, parser);
        case "orderId" -> orderId = text(name, parser);
        case "userId" -> userId = integer(name, parser);
        case "skuId" -> skuId = integer(name, parser);
        case "quantity" -> quantity = integer(name, parser);
        case "requestId" -> requestId = text(name, parser);
        case "traceparent" -> traceparent = text(name, parser);
        case "policy" -> policy = text(name, parser);
        case "epoch" -> epoch = integer(name, parser);
        case "seq" -> seq = integer(name, parser);
        case "admittedAt" -> admittedAt = integer(name, parser);
        default -> parser.skipChildren();
      }
    }

    OrderMessage toMessage() throws UnreadableMessageException {
      if (version != 0 && version != OrderMessage.VERSION) {
        throw new UnsupportedVersionException(version);
      }
      expect(wrongType == null, String.valueOf(wrongType));
      expect(version != 0, "v is missing");
      expect(quantity <= OrderMessage.MAX_QUANTITY, "quantity out of bounds: " + quantity);
      return new OrderMessage(
          OrderId.parse(required("orderId", orderId)),
          userId,
          skuId,
          (int) Math.max(quantity, 0),
          required("requestId", requestId),
          policyNamed(required("policy", policy)),
          epoch,
          seq,
          admittedAt,
          traceparent);
    }

    private static PurchasePolicy policyNamed(String name) throws UnreadableMessageException {
      for (PurchasePolicy policy : PurchasePolicy.values()) {
        if (policy.name().equals(name)) {
          return policy;
        }
      }
      throw new UnreadableMessageException("unknown policy");
    }

    private static String required(String name, @Nullable String value)
        throws UnreadableMessageException {
      expect(value != null, name + " is missing");
      return value == null ? "" : value;
    }

    private long integer(String name, JsonParser parser) {
      if (parser.currentToken() == JsonToken.VALUE_NUMBER_INT
          && parser.getNumberType() != NumberType.BIG_INTEGER) {
        return parser.getLongValue();
      }
      refuse(name + " is not an integer of 64 bits", parser);
      return 0;
    }

    private @Nullable String text(String name, JsonParser parser) {
      if (parser.currentToken() == JsonToken.VALUE_STRING) {
        return parser.getString();
      }
      refuse(name + " is not a string", parser);
      return null;
    }

    private void refuse(String defect, JsonParser parser) {
      parser.skipChildren();
      if (wrongType == null) {
        wrongType = defect;
      }
    }
  }
}
