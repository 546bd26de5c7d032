package io.seckill.system.shop;

import java.net.http.HttpResponse;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * One HTTP answer.
 *
 * @param json the body, or a missing node when there was none
 */
public record Answer(int status, JsonNode json) {

  private static final JsonMapper JSON = JsonMapper.shared();

  static Answer of(HttpResponse<String> response) {
    String body = response.body();
    return new Answer(
        response.statusCode(),
        body == null || body.isBlank() ? JSON.missingNode() : JSON.readTree(body));
  }

  /** A text member of the body, empty when absent. */
  public String text(String member) {
    return json.path(member).asString("");
  }

  /** The problem's stable code, empty when the answer is not a problem. */
  public String code() {
    return text("code");
  }
}
