package io.seckill.gateway.web;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;

/**
 * A page and the assets that it loads, read once at start. The version in the assets' addresses
 * changes with any of them, so that browsers may cache them for ever.
 */
final class PageSet {

  private final String version;
  private final PageFile page;
  private final Map<String, PageFile> assets = new HashMap<>();

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
    this.version = version(files);
    files.forEach((name, text) -> assets.put(name, PageFile.of(name, text)));
    this.page = PageFile.of(pageName, filled(html, values));
  }

  String version() {
    return version;
  }

  PageFile page() {
    return page;
  }

  /** Null when there is no asset of this name. */
  @Nullable PageFile asset(String name) {
    return assets.get(name);
  }

  private byte[] filled(byte[] html, Map<String, String> values) {
    String text = new String(html, StandardCharsets.UTF_8).replace("@VERSION@", version);
    for (Map.Entry<String, String> value : values.entrySet()) {
      text = text.replace('@' + value.getKey() + '@', value.getValue());
    }
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String version(Map<String, byte[]> files) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    files.values().forEach(all::writeBytes);
    return PageFile.hash(all.toByteArray());
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
