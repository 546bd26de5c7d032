package io.seckill.consumer.payment;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.UnreadableMessageException;
import io.seckill.support.web.StrictJson;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * The orders of one stored batch, to be checked when their payment time-out is over: {@code
 * {"v":1,"skuId":…,"orderIds":["…"]}}. MySQL's rows decide whether it really is over.
 *
 * @param orderIds 1..{@value #MAX_ORDERS}
 */
public record ExpiryMessage(long skuId, List<OrderId> orderIds) {

  public static final int MAX_ORDERS = 1_000;

  private static final int VERSION = 1;
  private static final int MAX_BYTES = 64 * 1024;

  public ExpiryMessage {
    if (skuId < 1 || skuId > OrderMessage.MAX_SKU_ID) {
      throw new IllegalArgumentException("skuId out of bounds: " + skuId);
    }
    if (orderIds.isEmpty() || orderIds.size() > MAX_ORDERS) {
      throw new IllegalArgumentException("orderIds out of bounds: " + orderIds.size());
    }
    orderIds = List.copyOf(orderIds);
  }

  /** JSON, UTF-8. */
  public byte[] encode() {
    return orderIds.stream()
        .map(id -> "\"" + id + "\"")
        .collect(
            Collectors.joining(
                ",", "{\"v\":" + VERSION + ",\"skuId\":" + skuId + ",\"orderIds\":[", "]}"))
        .getBytes(StandardCharsets.UTF_8);
  }

  /**
   * @throws UnreadableMessageException when it is not a version 1 message within bounds
   */
  static ExpiryMessage decode(byte[] body) throws UnreadableMessageException {
    if (body.length > MAX_BYTES) {
      throw new UnreadableMessageException("message of " + body.length + " bytes");
    }
    try {
      JsonNode node = StrictJson.MAPPER.readTree(body);
      if (!node.isObject() || node.path("v").asInt(0) != VERSION) {
        throw new UnreadableMessageException("not a message of version " + VERSION);
      }
      return new ExpiryMessage(node.path("skuId").asLong(0), ids(node.path("orderIds")));
    } catch (JacksonException e) {
      throw new UnreadableMessageException("not JSON");
    } catch (IllegalArgumentException e) {
      throw new UnreadableMessageException(String.valueOf(e.getMessage()));
    }
  }

  private static List<OrderId> ids(JsonNode array) throws UnreadableMessageException {
    List<OrderId> ids = new ArrayList<>();
    for (JsonNode id : array) {
      if (!id.isString()) {
        throw new UnreadableMessageException("an order id is not a string");
      }
      ids.add(OrderId.parse(id.stringValue()));
    }
    return ids;
  }
}
