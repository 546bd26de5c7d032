package io.seckill.gateway.web;

import java.util.Arrays;
import java.util.List;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/** The two HTTP ports of the gateway, and the paths that each of them serves. */
enum Port {
  /** {@code server.port}: public. */
  SHOPPER,
  /** {@code seckill.admin.port}: operators, probes and metrics; not reachable from outside. */
  ADMIN;

  private static final String ATTRIBUTE = Port.class.getName();

  /** Matched as routes are, so that an encoded or decorated path cannot be taken for another. */
  private static final List<PathPattern> ADMIN_PATHS =
      patterns("/admin/**", "/ops/**", "/actuator/**", "/api/v1/metrics/**", "/api/v1/health");

  /** Marks the requests that are handled under this context as this port's. */
  Context mark(Context context) {
    return context.put(ATTRIBUTE, this);
  }

  /** The port of a request that is handled under this context. */
  static Port of(ContextView context) {
    return context.getOrDefault(ATTRIBUTE, SHOPPER) == ADMIN ? ADMIN : SHOPPER;
  }

  boolean serves(PathContainer path) {
    boolean adminPath = ADMIN_PATHS.stream().anyMatch(pattern -> pattern.matches(path));
    return adminPath == (this == ADMIN);
  }

  static List<PathPattern> patterns(String... texts) {
    return Arrays.stream(texts).map(PathPatternParser.defaultInstance::parse).toList();
  }
}
