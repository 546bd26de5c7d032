package io.seckill.gateway.security;

import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;

/** The one way in which parts of a token are read: a repeated member makes it unreadable. */
final class TokenJson {

  static final JsonFactory FACTORY =
      JsonFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  private TokenJson() {}
}
