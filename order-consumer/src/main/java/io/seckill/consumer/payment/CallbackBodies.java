package io.seckill.consumer.payment;

import io.seckill.consumer.web.JsonBody;
import io.seckill.consumer.web.RefusedRequest;
import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemCode;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Receives the body of a callback before the request takes a thread: until it is whole its sender
 * has shown no secret, and may be slow.
 */
@Component
@Order(Ordered.HIGHEST_PRECEDENCE + 2) // after what measures requests
final class CallbackBodies extends OncePerRequestFilter {

  static final String PATH = "/internal/v1/payments/callback";

  /** Attribute of a request: its body, or the beginning of one that is too long. */
  static final String BODY = "seckill.callback.body";

  private static final Duration IN_TIME = Duration.ofSeconds(5);

  /** Of all bodies that have not been answered. */
  private static final long MOST_BYTES = 32 << 20;

  /**
   * A report has some 200 bytes. Bodies up to this length are always received: others, whose
   * senders need no secret either, may have taken all room, and connections bound these.
   */
  private static final int SHORT = 4_096;

  private final CallbackSignature signatures;
  private final PaymentMeters meters;
  private final AtomicLong bytes = new AtomicLong();

  CallbackBodies(CallbackSignature signatures, PaymentMeters meters) {
    this.signatures = signatures;
    this.meters = meters;
  }

  @Override
  protected boolean shouldNotFilter(HttpServletRequest request) {
    return !request.getRequestURI().equals(PATH);
  }

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    AsyncContext context = request.startAsync();
    if (!signatures.isExpected()) {
      RefusedRequest.end(
          context, Problem.of(ProblemCode.NOT_FOUND, "No callback is expected here."));
      return;
    }
    context.setTimeout(IN_TIME.toMillis());
    Arrival arrival = new Arrival(context, request.getInputStream());
    context.addListener(arrival);
    arrival.in.setReadListener(arrival);
  }

  /** Collects one body, and then lets the request go on. */
  private final class Arrival implements ReadListener, AsyncListener {

    private final AsyncContext context;
    private final ServletInputStream in;
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();
    private final byte[] part = new byte[1_024];

    Arrival(AsyncContext context, ServletInputStream in) {
      this.context = context;
      this.in = in;
    }

    @Override
    public void onDataAvailable() throws IOException {
      while (in.isReady()) {
        int read = in.read(part);
        if (read < 0) {
          return; // onAllDataRead follows
        }
        if (body.size() <= JsonBody.MAX_BYTES) {
          body.write(part, 0, read);
          if (bytes.addAndGet(read) > MOST_BYTES && body.size() > SHORT) {
            refuse("Too many callbacks arrive at the same time.");
            return;
          }
        }
      }
    }

    @Override
    public void onAllDataRead() {
      context.getRequest().setAttribute(BODY, body.toByteArray());
      context.dispatch();
    }

    @Override
    public void onTimeout(AsyncEvent late) throws IOException {
      refuse("The body has not arrived in time.");
    }

    private void refuse(String detail) throws IOException {
      meters.callbackRefused();
      RefusedRequest.end(context, Problem.of(ProblemCode.UNAVAILABLE, detail));
    }

    @Override
    public void onComplete(AsyncEvent end) {
      bytes.addAndGet(-body.size());
    }

    /** The sender has closed the connection. */
    @Override
    public void onError(Throwable failure) {
      logger.debug("a callback has not arrived", failure);
    }

    @Override
    public void onError(AsyncEvent failure) {}

    @Override
    public void onStartAsync(AsyncEvent again) {}
  }
}
