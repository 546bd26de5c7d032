package io.seckill.gateway.testing;

import static io.seckill.testing.Eventually.eventually;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** An open stream of the operations page. */
public record Watching(HttpResponse<InputStream> response, BufferedReader lines)
    implements AutoCloseable {

  public static Watching of(TestGateway gateway) throws IOException, InterruptedException {
    HttpResponse<InputStream> response =
        gateway
            .http()
            .send(
                gateway
                    .admin("/admin/v1/events")
                    .header("Authorization", TestGateway.operator())
                    .build(),
                BodyHandlers.ofInputStream());
    return new Watching(
        response,
        new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8)));
  }

  public int status() {
    return response.statusCode();
  }

  public JsonNode next() throws IOException {
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.startsWith("data:")) {
        return JsonMapper.shared().readTree(line.substring("data:".length()));
      }
    }
    throw new AssertionError("the stream ended");
  }

  /** The next snapshot with these services and states. */
  public JsonNode await(String... states) {
    return eventually("a snapshot with " + List.of(states))
        .until(
            this::next,
            snapshot ->
                Stream.of(states)
                    .map(state -> state.split(" ", 2))
                    .allMatch(
                        one -> one[1].equals(snapshot.at("/services/" + one[0]).asString(""))));
  }

  public boolean readToEnd() throws IOException {
    String line = lines.readLine();
    while (line != null) {
      line = lines.readLine();
    }
    return true;
  }

  @Override
  public void close() throws IOException {
    lines.close();
  }
}
