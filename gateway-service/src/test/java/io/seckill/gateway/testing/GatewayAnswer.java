package io.seckill.gateway.testing;

import static io.seckill.testing.Eventually.eventually;

import java.net.http.HttpResponse;
import java.util.concurrent.Callable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A response of the gateway. */
public record GatewayAnswer(HttpResponse<String> http) {

  private static final JsonMapper JSON = JsonMapper.shared();

  /** The first answer to a request that is not 503, which a slow machine may cause at times. */
  public static GatewayAnswer available(Callable<GatewayAnswer> request) {
    return eventually().until(request, answer -> answer.status() != 503);
  }

  public int status() {
    return http.statusCode();
  }

  public String body() {
    return http.body();
  }

  public String header(String name) {
    return http.headers().firstValue(name).orElse("");
  }

  public JsonNode json() {
    return JSON.readTree(http.body());
  }

  public String text(String member) {
    return json().path(member).asString("");
  }

  /** The problem code, or the status when the response is not an error. */
  public String code() {
    return status() >= 400 ? text("code") : Integer.toString(status());
  }

  /** Returns this answer when it has that status. */
  public GatewayAnswer expect(int status) {
    if (status() != status) {
      throw new AssertionError("expected " + status + " but got " + this);
    }
    return this;
  }

  @Override
  public String toString() {
    return status() + " " + body();
  }
}
