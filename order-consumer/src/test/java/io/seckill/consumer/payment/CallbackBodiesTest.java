package io.seckill.consumer.payment;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.consumer.web.JsonBody;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockAsyncContext;
import org.springframework.mock.web.MockFilterChain;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

class CallbackBodiesTest {

  private static final int LONGEST = JsonBody.MAX_BYTES;
  private static final int ROOM_FOR_LONGEST = (32 << 20) / LONGEST;

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final CallbackBodies bodies =
      new CallbackBodies(
          new CallbackSignature(
              new PaymentProperties(
                  Duration.ofMinutes(30), "installed", "secret-of-the-provider-0123456789", null),
              Clock.systemUTC()),
          new PaymentMeters(meters));

  /** Senders have shown no secret yet. */
  @Test
  void longBodiesOfRequestsWithoutAnAnswerTakeNoMoreThan32MegabytesInAll() throws Exception {
    List<Callback> open = new ArrayList<>();
    for (int i = 0; i < ROOM_FOR_LONGEST; i++) {
      open.add(arrived(LONGEST));
    }
    assertThat(open).allMatch(callback -> callback.response.getStatus() == 200);

    assertThat(arrived(200).response.getStatus()).as("a report").isEqualTo(200);
    assertThat(arrived(4_096).response.getStatus()).isEqualTo(200);
    assertThat(arrived(4_097).response.getStatus()).isEqualTo(503);
    assertThat(meters.get("seckill.consumer.payment.callbacks.refused").counter().count()).isOne();

    open.get(0).context().complete();
    assertThat(arrived(LONGEST - 8_192).response.getStatus()).isEqualTo(200);
    assertThat(arrived(4_097).response.getStatus()).isEqualTo(503);
  }

  @Test
  void aBodyHasFiveSecondsToArrive() throws Exception {
    assertThat(arrived(1).context().getTimeout()).isEqualTo(5_000);
  }

  private Callback arrived(int bytes) throws Exception {
    Callback callback = new Callback(bytes);
    bodies.doFilter(callback, callback.response, new MockFilterChain());
    Objects.requireNonNull(callback.body.listener).onDataAvailable();
    return callback;
  }

  private static final class Callback extends MockHttpServletRequest {

    private final MockHttpServletResponse response = new MockHttpServletResponse();
    private final Body body;

    Callback(int bytes) {
      super("POST", CallbackBodies.PATH);
      this.body = new Body(bytes);
      setAsyncSupported(true);
    }

    MockAsyncContext context() {
      return Objects.requireNonNull((MockAsyncContext) getAsyncContext());
    }

    @Override
    public AsyncContext startAsync() {
      return startAsync(this, response);
    }

    @Override
    public ServletInputStream getInputStream() {
      return body;
    }
  }

  /** All of it has arrived, but not its end. */
  private static final class Body extends ServletInputStream {

    private int left;
    private @Nullable ReadListener listener;

    Body(int bytes) {
      this.left = bytes;
    }

    @Override
    public int read() {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0];
    }

    @Override
    public int read(byte[] to, int from, int most) {
      int read = Math.min(left, most);
      left -= read;
      return read == 0 ? -1 : read;
    }

    @Override
    public boolean isReady() {
      return left > 0;
    }

    @Override
    public boolean isFinished() {
      return false;
    }

    @Override
    public void setReadListener(ReadListener reader) {
      listener = reader;
    }
  }
}
