package io.seckill.system.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

/** Reads pages of this machine that need no token. */
public final class LocalHttp {

  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private LocalHttp() {}

  /**
   * @param timeout until an answer begins
   * @throws UncheckedIOException when none comes
   */
  public static HttpResponse<String> get(int port, String path, Duration timeout) {
    URI uri = URI.create("http://127.0.0.1:" + port + path);
    try {
      return HTTP.send(
          HttpRequest.newBuilder(uri).timeout(timeout).build(), BodyHandlers.ofString());
    } catch (IOException e) {
      throw new UncheckedIOException("GET " + uri, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
