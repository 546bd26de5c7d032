package io.seckill.gateway.security;

import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;

/** The JSON factory with which all parts of a token are parsed: it rejects repeated members. */
final class TokenJson {

  static final JsonFactory FACTORY =
      JsonFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  private TokenJson() {}
}
