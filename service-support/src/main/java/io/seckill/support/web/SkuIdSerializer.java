package io.seckill.support.web;

import io.seckill.common.sale.Shards;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;

/** Writes the id of a product as operators see it: that of a shard as its SKU's. */
public final class SkuIdSerializer extends ValueSerializer<Long> {

  @Override
  public void serialize(Long id, JsonGenerator json, SerializationContext context) {
    json.writeNumber(Shards.sku(id));
  }
}
