package io.seckill.system.shop;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** JSON over HTTP with a bearer token; shared by the shop and admin clients. */
final class HttpCalls {

  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  private final String baseUrl;
  private final Duration timeout;
  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(5))
          .build();

  HttpCalls(String baseUrl) {
    this(baseUrl, TIMEOUT);
  }

  HttpCalls(String baseUrl, Duration timeout) {
    this.baseUrl = baseUrl;
    this.timeout = timeout;
  }

  Answer send(
      String method, String path, String token, @Nullable String key, @Nullable String body) {
    try {
      return Answer.of(http.send(request(method, path, token, key, body), BodyHandlers.ofString()));
    } catch (IOException e) {
      throw new UncheckedIOException(method + " " + path, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** As a POST of {@link #send}, with one more header. */
  Answer post(String path, String token, String key, String body, String header, String value) {
    HttpRequest request =
        HttpRequest.newBuilder(request("POST", path, token, key, body), (name, text) -> true)
            .header(header, value)
            .build();
    try {
      return Answer.of(http.send(request, BodyHandlers.ofString()));
    } catch (IOException e) {
      throw new UncheckedIOException("POST " + path, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  CompletableFuture<Answer> sendAsync(
      String method, String path, String token, @Nullable String key, @Nullable String body) {
    return http.sendAsync(request(method, path, token, key, body), BodyHandlers.ofString())
        .thenApply(Answer::of);
  }

  private HttpRequest request(
      String method, String path, String token, @Nullable String key, @Nullable String body) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(baseUrl + path))
            .timeout(timeout)
            .header("Authorization", "Bearer " + token);
    if (key != null) {
      request.header("Idempotency-Key", key);
    }
    if (body == null) {
      return request.method(method, BodyPublishers.noBody()).build();
    }
    return request
        .header("Content-Type", "application/json")
        .method(method, BodyPublishers.ofString(body))
        .build();
  }
}
