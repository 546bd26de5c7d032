package io.seckill.gateway.wallet;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.mock.http.server.reactive.MockServerHttpResponse;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.databind.json.JsonMapper;

class ShopperWalletControllerTest {

  private static final Duration SOON = Duration.ofSeconds(10);
  private static final long USER = 7;
  private static final WalletStatementCsv CSV =
      new WalletStatementCsv(LocalDate.parse("2026-11-01"), LocalDate.parse("2026-11-30"));

  private ShopperWalletController controller = new ShopperWalletController(null);

  private Mono<Void> send(long user, MockServerHttpResponse response) {
    return controller.send(
        user,
        CSV,
        after ->
            Mono.just(
                JsonMapper.shared()
                    .readTree("{\"openingCents\":500,\"entries\":[],\"next\":null}")),
        response);
  }

  /** A client that does not read: all pages are read, and never written. */
  private Disposable stalled(long user) {
    MockServerHttpResponse response = new MockServerHttpResponse();
    response.setWriteHandler(body -> Flux.from(body).then(Mono.never()));
    return send(user, response).onErrorComplete().subscribe();
  }

  private @Nullable ProblemCode refusal(long user) {
    try {
      send(user, new MockServerHttpResponse()).block(SOON);
      return null;
    } catch (ProblemException e) {
      return e.problem().code();
    }
  }

  @Test
  void sendsTheStatementAsAFile() {
    MockServerHttpResponse response = new MockServerHttpResponse();

    send(USER, response).block(SOON);

    assertThat(response.getHeaders().getFirst("Content-Type")).isEqualTo("text/csv;charset=UTF-8");
    assertThat(response.getHeaders().getFirst("Content-Disposition"))
        .isEqualTo("attachment; filename=\"wallet-2026-11-01-2026-11-30.csv\"");
    assertThat(response.getBodyAsString().block(SOON)).contains(",CLOSING,,500,");
  }

  @Test
  void aShopperHasOneStatementUntilItIsWrittenOrLeft() {
    Disposable first = stalled(USER);
    assertThat(refusal(USER)).isEqualTo(ProblemCode.TOO_MANY_REQUESTS);
    assertThat(refusal(8)).isNull();

    first.dispose();
    assertThat(refusal(USER)).isNull();
    assertThat(refusal(USER)).isNull();
  }

  @Test
  void aStatementHasItsPlaceBeforeOrderConsumerAnswers() {
    Disposable first =
        controller.send(USER, CSV, after -> Mono.never(), new MockServerHttpResponse()).subscribe();
    assertThat(refusal(USER)).isEqualTo(ProblemCode.TOO_MANY_REQUESTS);
    first.dispose();
  }

  @Test
  void aGatewayHasAFewStatementsUnderWay() {
    List<Disposable> open = new ArrayList<>();
    for (long user = 1; user <= ShopperWalletController.MAX_STATEMENTS; user++) {
      assertThat(refusal(user)).isNull();
      open.add(stalled(user));
    }
    assertThat(refusal(100)).isEqualTo(ProblemCode.BUSY);

    open.get(0).dispose();
    assertThat(refusal(100)).isNull();
  }

  @Test
  void aStatementThatIsNotReadForTooLongGivesItsPlaceBack() {
    controller = new ShopperWalletController(null, Duration.ofSeconds(2));
    for (long user = 1; user <= ShopperWalletController.MAX_STATEMENTS; user++) {
      stalled(user);
    }

    eventually().until(() -> refusal(100) == null);
  }
}
