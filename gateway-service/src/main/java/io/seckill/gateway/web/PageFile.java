package io.seckill.gateway.web;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import org.springframework.http.MediaType;

/**
 * One file of a page, ready to be sent.
 *
 * @param plain the uncompressed content
 * @param gzip the compressed content
 * @param etag of the uncompressed content, with its quotes
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record PageFile(MediaType type, byte[] plain, byte[] gzip, String etag) {

  private static final Map<String, MediaType> TYPES =
      Map.of(
          "html", MediaType.parseMediaType("text/html;charset=UTF-8"),
          "css", MediaType.parseMediaType("text/css;charset=UTF-8"),
          "js", MediaType.parseMediaType("text/javascript;charset=UTF-8"),
          "svg", MediaType.parseMediaType("image/svg+xml"));

  private static final int HASH_CHARS = 16;

  /**
   * @param name file name; its extension determines the type
   */
  static PageFile of(String name, byte[] text) {
    MediaType type = TYPES.get(name.substring(name.lastIndexOf('.') + 1));
    if (type == null) {
      throw new IllegalArgumentException("no type for " + name);
    }
    return new PageFile(type, text, gzip(text), '"' + hash(text) + '"');
  }

  /** A content hash, for versions in addresses and for entity tags. */
  static String hash(byte[] text) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(text);
      return HexFormat.of().formatHex(digest).substring(0, HASH_CHARS);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  private static byte[] gzip(byte[] text) {
    ByteArrayOutputStream compressed = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(compressed)) {
      out.write(text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return compressed.toByteArray();
  }
}
