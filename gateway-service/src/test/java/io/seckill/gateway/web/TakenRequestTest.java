package io.seckill.gateway.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

class TakenRequestTest {

  /** The route ignores bodies, so that a request without a length fits. */
  @Test
  void hasNoTransferCoding() {
    HttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/");
    assertThat(of(request)).isNotNull();

    request.headers().set("Transfer-Encoding", "chunked");
    assertThat(of(request)).isNull();
  }

  private static TakenRequest of(HttpRequest request) {
    return TakenRequest.of(
        request, List.of(new Bodiless()), InetSocketAddress.createUnresolved("shopper", 1));
  }

  private static final class Bodiless implements DirectRoute {

    @Override
    public boolean matches(HttpMethod method, String uri) {
      return true;
    }

    @Override
    public int maxBodyBytes() {
      return 0;
    }

    @Override
    public CompletionStage<HttpAnswer> answer(RequestHead head, byte[] body) {
      throw new AssertionError("only taken");
    }
  }
}
