package io.seckill.consumer.payment;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.UnreadableMessageException;
import io.seckill.support.web.StrictJson;
import java.util.List;
import tools.jackson.core.JacksonException;

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

  /** The message as JSON; members of a later release are ignored. */
  @JsonPropertyOrder({"v", "skuId", "orderIds"})
  @JsonIgnoreProperties(ignoreUnknown = true)
  private record Content(int v, long skuId, List<String> orderIds) {

    Content {
      orderIds = List.copyOf(orderIds);
    }
  }

  /** JSON, UTF-8. */
  public byte[] encode() {
    List<String> ids = orderIds.stream().map(OrderId::toString).toList();
    return StrictJson.MAPPER.writeValueAsBytes(new Content(VERSION, skuId, ids));
  }

  /**
   * @throws UnreadableMessageException when it is not a version 1 message within bounds
   */
  static ExpiryMessage decode(byte[] body) throws UnreadableMessageException {
    if (body.length > MAX_BYTES) {
      throw new UnreadableMessageException("message of " + body.length + " bytes");
    }
    try {
      Content content = StrictJson.MAPPER.readValue(body, Content.class);
      if (content == null || content.v != VERSION) {
        throw new UnreadableMessageException("not a message of version " + VERSION);
      }
      return new ExpiryMessage(
          content.skuId, content.orderIds.stream().map(OrderId::parse).toList());
    } catch (JacksonException e) {
      throw new UnreadableMessageException("not the JSON of an expiry message");
    } catch (IllegalArgumentException e) {
      throw new UnreadableMessageException(String.valueOf(e.getMessage()));
    }
  }
}
