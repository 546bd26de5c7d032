package io.seckill.gateway.web;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.http.MediaType;
import org.springframework.http.MediaTypeFactory;
import org.springframework.util.DigestUtils;

/**
 * A page and the assets that it loads, read and compressed once at start. The version in the
 * assets' addresses changes with any of them, so that browsers may cache them for ever.
 */
final class PageSet {

  private final String version;
  private final File page;
  private final Map<String, File> assets = new HashMap<>();

  /**
   * One file, ready to be sent.
   *
   * @param etag weak, because it is the same for both representations
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

  String version() {
    return version;
  }

  File page() {
    return page;
  }

  /** Null when there is no asset of this name. */
  @Nullable File asset(String name) {
    return assets.get(name);
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
          new PathMatchingResourcePatternResolver().getResources("classpath:" + folder + "/*.*")) {
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
