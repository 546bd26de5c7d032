package io.seckill.gateway.web;

import static org.springframework.web.reactive.function.server.RequestPredicates.methods;
import static org.springframework.web.reactive.function.server.RequestPredicates.path;

import io.seckill.gateway.security.DemoTokens;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.http.CacheControl;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.http.MediaTypeFactory;
import org.springframework.util.DigestUtils;
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
        .route(reading(address), request -> send(request, files.page, ASK_EACH_TIME))
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
    PageSet.@Nullable File file = files.assets.get(request.pathVariable("name"));
    boolean current = request.pathVariable("version").equals(files.version);
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

  /**
   * A page and the assets that it loads, read and compressed once at start. The version in the
   * assets' addresses changes with any of them, so that browsers may cache them for ever.
   */
  private static final class PageSet {

    private final String version;
    private final File page;
    private final Map<String, File> assets = new HashMap<>();

    /**
     * One file, ready to be sent; the etag is weak, because it is the same for both
     * representations.
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record File(MediaType type, byte[] plain, byte[] gzip, String etag) {

      static File of(String name, byte[] text) {
        MediaType type = MediaTypeFactory.getMediaType(name).orElseThrow();
        String etag = "W/\"" + DigestUtils.md5DigestAsHex(text) + '"';
        return new File(new MediaType(type, StandardCharsets.UTF_8), text, compressed(text), etag);
      }

      private static byte[] compressed(byte[] text) {
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(compressed)) {
          out.write(text);
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
        return compressed.toByteArray();
      }
    }

    /**
     * @param folders on the class path; all their files but the page are assets
     * @param pageName the HTML file; each {@code @NAME@} in it is replaced by a value
     * @param values by name; VERSION is added
     */
    PageSet(List<String> folders, String pageName, Map<String, String> values) {
      Map<String, byte[]> files = new TreeMap<>();
      folders.forEach(folder -> read(folder, files));
      byte[] html = files.remove(pageName);
      if (html == null) {
        throw new IllegalStateException(pageName + " is missing in " + folders);
      }
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      files.values().forEach(all::writeBytes);
      this.version = DigestUtils.md5DigestAsHex(all.toByteArray());
      files.forEach((name, text) -> assets.put(name, File.of(name, text)));
      this.page = File.of(pageName, filled(html, values));
    }

    private byte[] filled(byte[] html, Map<String, String> values) {
      String text = new String(html, StandardCharsets.UTF_8).replace("@VERSION@", version);
      for (Map.Entry<String, String> value : values.entrySet()) {
        text = text.replace('@' + value.getKey() + '@', value.getValue());
      }
      return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void read(String folder, Map<String, byte[]> into) {
      try {
        for (Resource file :
            new PathMatchingResourcePatternResolver()
                .getResources("classpath:" + folder + "/*.*")) {
          String name = file.getFilename();
          if (name != null) {
            into.put(name, file.getContentAsByteArray());
          }
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
