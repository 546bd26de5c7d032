package io.seckill.consumer.testing;

import io.seckill.testing.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Calls of the internal port, as the gateway makes them. */
public final class InternalApi {

  private static final HttpClient HTTP =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Eventually.SOON)
          .build();
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final String base;
  private final Map<String, String> headers;

  /**
   * @param base such as {@code http://127.0.0.1:8083}
   */
  public InternalApi(String base, String token) {
    this(
        base,
        Map.of(
            "Authorization", "Bearer " + token,
            "X-Operator", "tester",
            "Content-Type", "application/json"));
  }

  private InternalApi(String base, Map<String, String> headers) {
    this.base = base;
    this.headers = headers;
  }

  /**
   * A response.
   *
   * @param body a missing node when empty
   */
  public record Answer(int status, String contentType, JsonNode body, String text) {

    /** The code of a problem response, "" for any other response. */
    public String code() {
      return body.path("code").asString("");
    }

    /** A member of the body that must be a string. */
    public String text(String member) {
      return body.path(member).stringValue();
    }

    /** A member of the body that must be a number. */
    public long number(String member) {
      return body.path(member).longValue();
    }

    /** The field that a problem response names, "" if none. */
    public String field() {
      return body.path("field").asString("");
    }
  }

  /**
   * Returns the same caller with another value of this header; an empty value leaves the header
   * out.
   */
  public InternalApi with(String header, String value) {
    Map<String, String> changed = new LinkedHashMap<>(headers);
    changed.remove(header);
    if (!value.isEmpty()) {
      changed.put(header, value);
    }
    return new InternalApi(base, changed);
  }

  public Answer get(String path) {
    return send("GET", path, new byte[0]);
  }

  public Answer put(String path, String body) {
    return send("PUT", path, body.getBytes(StandardCharsets.UTF_8));
  }

  public Answer post(String path, String body) {
    return send("POST", path, body.getBytes(StandardCharsets.UTF_8));
  }

  public Answer post(String path) {
    return post(path, "");
  }

  /** Pays an order for its user. */
  public Answer pay(Object orderId, long user) {
    return post("/internal/v1/orders/" + orderId + "/payment", "{\"userId\":" + user + "}");
  }

  /** Cancels an order for its user. */
  public Answer cancel(Object orderId, long user) {
    return post("/internal/v1/orders/" + orderId + "/cancel", "{\"userId\":" + user + "}");
  }

  /** Adds units to the stock of a product, or takes some. */
  public Answer changeStock(long skuId, String changeId, long delta) {
    return with("Idempotency-Key", changeId)
        .post(
            "/internal/v1/skus/" + skuId + "/stock",
            "{\"delta\":%d,\"reason\":\"a test\"}".formatted(delta));
  }

  /** Sends a request with any method and any body. */
  public Answer send(String method, String path, byte[] body) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(base + path))
            .timeout(Duration.ofMinutes(2))
            .method(
                method,
                body.length == 0 ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body));
    headers.forEach(request::header);
    try {
      HttpResponse<String> response = HTTP.send(request.build(), BodyHandlers.ofString());
      String type = response.headers().firstValue("Content-Type").orElse("");
      JsonNode json = type.contains("json") ? JSON.readTree(response.body()) : JSON.missingNode();
      return new Answer(response.statusCode(), type, json, response.body());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
