package io.seckill.gateway.web;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TakenRequestTest {

  private static final int MOST = 8;

  @ParameterizedTest
  @CsvSource({
    "/take, Content-Length, 8, true",
    "/take, Content-Length, 9, false",
    "/take, X-Other, 1, false",
    "/other, Content-Length, 8, false",
    "/take, Transfer-Encoding, chunked, false",
    "/take, Connection, close, false"
  })
  void isWholeAndSmall(String uri, String header, String value, boolean taken) {
    HttpRequest request = request(HttpVersion.HTTP_1_1, uri, header, value);

    assertThat(of(request) != null).isEqualTo(taken);
  }

  @ParameterizedTest
  @CsvSource({"Expect, 100-continue", "Upgrade, h2c", "Transfer-Encoding, gzip"})
  void isOrdinary(String header, String value) {
    HttpRequest request = request(HttpVersion.HTTP_1_1, "/take", "Content-Length", "1");
    request.headers().set(header, value);

    assertThat(of(request)).isNull();
    assertThat(of(request(HttpVersion.HTTP_1_0, "/take", "Content-Length", "1"))).isNull();
  }

  @Test
  void isCompleteWithItsLastPart() {
    TakenRequest request =
        of(request(HttpVersion.HTTP_1_1, "/take", "Content-Length", Integer.toString(MOST)));
    ByteBuf first = Unpooled.copiedBuffer("1234", UTF_8);

    request.receive(new DefaultHttpContent(first));
    assertThat(request.isComplete()).isFalse();
    assertThat(first.refCnt()).isZero();

    request.receive(new DefaultLastHttpContent(Unpooled.copiedBuffer("5678", UTF_8)));
    assertThat(request.isComplete()).isTrue();
    assertThat(request.decide())
        .isCompletedWithValueMatching(answer -> answer.body().equals("12345678"));
  }

  private static TakenRequest of(HttpRequest request) {
    return TakenRequest.of(
        request, List.of(new Echo()), InetSocketAddress.createUnresolved("shopper", 1));
  }

  private static HttpRequest request(HttpVersion version, String uri, String header, String value) {
    HttpRequest request = new DefaultHttpRequest(version, HttpMethod.POST, uri);
    request.headers().set(header, value);
    return request;
  }

  /** Answers with the body. */
  private static final class Echo implements DirectRoute {

    @Override
    public boolean matches(HttpMethod method, String uri) {
      return uri.equals("/take");
    }

    @Override
    public int maxBodyBytes() {
      return MOST;
    }

    @Override
    public CompletionStage<HttpAnswer> answer(RequestHead head, byte[] body) {
      return CompletableFuture.completedFuture(HttpAnswer.json(200, new String(body, UTF_8)));
    }
  }
}
