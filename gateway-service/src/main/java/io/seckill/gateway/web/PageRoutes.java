package io.seckill.gateway.web;

import static org.springframework.web.reactive.function.server.RequestPredicates.methods;
import static org.springframework.web.reactive.function.server.RequestPredicates.path;

import io.seckill.gateway.security.DemoTokens;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.CacheControl;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.web.reactive.function.server.RequestPredicate;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;

/**
 * Serves the shop page at {@code /} of the shopper port and the operations page at {@code /ops} of
 * the admin port. Pages contain no data and need no token; what they read does. Browsers revalidate
 * the page itself each time, with its ETag; the assets that it loads have their version in the
 * address and are cached by browsers.
 *
 * <p>Spring's chain of resource resolvers is not used: it sends gzip to callers that refuse it
 * ({@code gzip;q=0}), omits Cache-Control from 304, finds no file at the address of an old version,
 * and needs compressed copies of all files in the jar.
 */
@Configuration(proxyBeanMethods = false)
class PageRoutes {

  /** The gateway's own files only, no inline script or style, no conversion of text to markup. */
  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
          + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
          + " require-trusted-types-for 'script'";

  private static final CacheControl ASK_EACH_TIME = CacheControl.noCache();
  private static final CacheControl KEEP =
      CacheControl.maxAge(Duration.ofDays(365)).cachePublic().immutable();

  /** RFC 9110, section 12.5.3: a weight of 0 refuses a coding. */
  private static final Pattern ACCEPTS_GZIP =
      Pattern.compile("\\bgzip\\b(?!\\s*;\\s*q=0(\\.0*)?\\s*(,|$))", Pattern.CASE_INSENSITIVE);

  @Bean
  RouterFunction<ServerResponse> shopPage(DemoTokens demo, PagesProperties settings) {
    PageSet files =
        new PageSet(List.of("pages/common", "pages/shop"), "shop.html", values(demo, settings));
    return routes("/", "/assets", files);
  }

  @Bean
  RouterFunction<ServerResponse> opsPage(DemoTokens demo, PagesProperties settings) {
    PageSet files =
        new PageSet(List.of("pages/common", "pages/ops"), "ops.html", values(demo, settings));
    return routes("/ops", "/ops/assets", files);
  }

  private static Map<String, String> values(DemoTokens demo, PagesProperties settings) {
    return Map.of("DEMO", demo.isOn() ? "on" : "off", "CURRENCY", settings.currency());
  }

  private static RouterFunction<ServerResponse> routes(
      String address, String assets, PageSet files) {
    return RouterFunctions.route()
        .route(reading(address), request -> send(request, files.page(), ASK_EACH_TIME))
        .route(reading(assets + "/{version}/{name}"), request -> asset(request, files))
        .route(
            path(address).or(path(assets + "/{version}/{name}")),
            request -> AllowedMethods.answer(request, HttpMethod.GET, HttpMethod.HEAD))
        .build();
  }

  private static RequestPredicate reading(String pattern) {
    return methods(HttpMethod.GET, HttpMethod.HEAD).and(path(pattern));
  }

  /**
   * The address of an old version returns the current file, for a page loaded just before an
   * update.
   */
  private static Mono<ServerResponse> asset(ServerRequest request, PageSet files) {
    PageSet.File file = files.asset(request.pathVariable("name"));
    boolean current = request.pathVariable("version").equals(files.version());
    return send(request, file, current ? KEEP : ASK_EACH_TIME);
  }

  private static Mono<ServerResponse> send(
      ServerRequest request, PageSet.@Nullable File file, CacheControl caching) {
    if (file == null) {
      return Mono.error(ProblemException.of(ProblemCode.NOT_FOUND));
    }
    boolean gzip =
        ACCEPTS_GZIP
            .matcher(String.join(",", request.headers().header(HttpHeaders.ACCEPT_ENCODING)))
            .find();
    ServerResponse.BodyBuilder answer =
        ServerResponse.ok()
            .contentType(file.type())
            .cacheControl(caching)
            .varyBy(HttpHeaders.ACCEPT_ENCODING)
            .header("Content-Security-Policy", POLICY)
            .eTag(file.etag()); // answered with 304 when the browser has it
    return gzip
        ? answer.header(HttpHeaders.CONTENT_ENCODING, "gzip").bodyValue(file.gzip())
        : answer.bodyValue(file.plain());
  }
}
