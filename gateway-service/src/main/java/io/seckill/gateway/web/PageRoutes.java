package io.seckill.gateway.web;

import static org.springframework.web.reactive.function.server.RequestPredicates.methods;
import static org.springframework.web.reactive.function.server.RequestPredicates.path;

import io.seckill.gateway.security.DemoTokens;
import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
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
    PageFile file = files.asset(request.pathVariable("name"));
    boolean current = request.pathVariable("version").equals(files.version());
    return send(request, file, current ? KEEP : ASK_EACH_TIME);
  }

  private static Mono<ServerResponse> send(
      ServerRequest request, @Nullable PageFile file, CacheControl caching) {
    if (file == null) {
      return Mono.error(
          ProblemException.notFound(Problem.NOT_FOUND, "There is nothing at this address."));
    }
    // Also with 304 Not Modified, whose headers replace those of the browser's cached copy.
    HttpHeaders headers = request.exchange().getResponse().getHeaders();
    headers.setCacheControl(caching);
    headers.set(HttpHeaders.VARY, HttpHeaders.ACCEPT_ENCODING);
    headers.set("Content-Security-Policy", POLICY);
    return request.checkNotModified(file.etag()).switchIfEmpty(whole(request, file));
  }

  private static Mono<ServerResponse> whole(ServerRequest request, PageFile file) {
    boolean gzip =
        request.headers().header(HttpHeaders.ACCEPT_ENCODING).toString().contains("gzip");
    ServerResponse.BodyBuilder answer =
        ServerResponse.ok().contentType(file.type()).eTag(file.etag());
    if (gzip) {
      answer.header(HttpHeaders.CONTENT_ENCODING, "gzip");
    }
    return answer.bodyValue(gzip ? file.gzip() : file.plain());
  }
}
