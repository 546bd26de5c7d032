package io.seckill.gateway.admission;

import io.seckill.common.order.OrderMessage;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;

/** Parses the body of a purchase, {@code {"quantity":2}}; other members are not allowed. */
final class PurchaseBody {

  private static final JsonFactory JSON =
      JsonFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  private PurchaseBody() {}

  /**
   * Returns the quantity if the body is a JSON object in UTF-8 with exactly this member, an integer
   * 1..10,000.
   *
   * @return 0 for any other body
   */
  static int quantity(byte[] body) {
    if (isNotUtf8(body)) {
      return 0;
    }
    try (JsonParser parser = JSON.createParser(ObjectReadContext.empty(), body)) {
      return read(parser);
    } catch (JacksonException e) {
      return 0;
    }
  }

  /**
   * JSON in UTF-16 or UTF-32 contains zero bytes, in UTF-8 none. The parser would detect and accept
   * these encodings.
   */
  private static boolean isNotUtf8(byte[] body) {
    for (byte b : body) {
      if (b == 0) {
        return true;
      }
    }
    return false;
  }

  private static int read(JsonParser parser) {
    long quantity = 0;
    if (parser.nextToken() != JsonToken.START_OBJECT) {
      return 0;
    }
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      boolean known = parser.currentName().equals("quantity");
      if (!known || parser.nextToken() != JsonToken.VALUE_NUMBER_INT) {
        return 0;
      }
      quantity = parser.getLongValue();
    }
    boolean complete = parser.currentToken() == JsonToken.END_OBJECT && parser.nextToken() == null;
    boolean inBounds = quantity >= 1 && quantity <= OrderMessage.MAX_QUANTITY;
    return complete && inBounds ? (int) quantity : 0;
  }
}
