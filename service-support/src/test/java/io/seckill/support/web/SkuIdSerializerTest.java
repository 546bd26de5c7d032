package io.seckill.support.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.sale.Shards;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.annotation.JsonSerialize;

class SkuIdSerializerTest {

  private record Shown(
      @JsonSerialize(using = SkuIdSerializer.class) long skuId,
      @JsonSerialize(using = SkuIdSerializer.class) @Nullable Long other) {}

  @Test
  void operatorsSeeTheSkuOfAShard() {
    assertThat(json(Shards.id(1_001, 3), Shards.id(Shards.LARGEST_SKU, 15)))
        .isEqualTo("{\"skuId\":1001,\"other\":" + Shards.LARGEST_SKU + "}");
    assertThat(json(Shards.FIRST_ID - 1, null))
        .isEqualTo("{\"skuId\":4503599627370495,\"other\":null}");
  }

  private static String json(long skuId, @Nullable Long other) {
    return StrictJson.MAPPER.writeValueAsString(new Shown(skuId, other));
  }
}
