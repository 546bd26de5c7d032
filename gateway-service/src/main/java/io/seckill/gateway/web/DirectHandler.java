package io.seckill.gateway.web;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GenericFutureListener;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers the requests of the {@link DirectRoute}s between the HTTP codec of a connection and
 * Reactor Netty, which costs less than an exchange of Reactor Netty. It takes only {@link
 * TakenRequest}s; all other messages pass unchanged. Answers leave in the order of the requests: a
 * request is taken only when no answer of Reactor Netty is outstanding on this connection, and
 * messages behind it wait here until its answer is written. While something waits, nothing more is
 * read, so that at most the content of one read is kept.
 *
 * <p>Only the connection's event loop uses it.
 */
final class DirectHandler extends ChannelDuplexHandler {

  private static final Logger log = LoggerFactory.getLogger(DirectHandler.class);

  /**
   * Shortest time left to a body during a stop; twice as long at most. The bodies of this service
   * are small: one that takes longer comes from a client that has stalled.
   */
  private static final long BODY_MS = 1_000;

  private final List<DirectRoute> routes;
  private final OpenRequests open;
  private final GenericFutureListener<Future<Void>> written = this::written;

  /** Messages behind the taken request, oldest first. */
  private final ArrayDeque<Object> waiting = new ArrayDeque<>(2);

  @SuppressWarnings("NullAway.Init") // set before the first message
  private ChannelHandlerContext context;

  @SuppressWarnings("NullAway.Init")
  private Executor eventLoop;

  /** The request that is not answered yet; null when there is none. */
  private @Nullable TakenRequest taken;

  private boolean draining;

  /** Whether the last read delivered something to a taken request. */
  private boolean consumed;

  /** Requests passed on whose answer has not been written completely. */
  private int passed;

  /** Whether the rest of a request that was passed on is still to come. */
  private boolean passing;

  /** Requests accepted or passed on so far. */
  private long requests;

  /** Whether an answer ends the connection: no further request may be taken. */
  private boolean closing;

  DirectHandler(List<DirectRoute> routes, OpenRequests open) {
    this.routes = routes;
    this.open = open;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    context = ctx;
    eventLoop = EventLoops.of(ctx.channel());
    open.connected(this);
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ctx) {
    open.disconnected(this);
  }

  /** Until the gateway runs again, closes the connection when a body is received for too long. */
  void endStalledBodies() {
    eventLoop.execute(() -> endStalledBody(0));
  }

  /** {@code before} is the number of the request received at the last look; 0 for none. */
  private void endStalledBody(long before) {
    if (!context.channel().isActive() || open.isRunning()) {
      return;
    }
    long received = passing || (taken != null && !taken.isComplete()) ? requests : 0;
    if (received > 0 && received == before) {
      var unused = context.close();
    } else {
      var unused =
          context
              .executor()
              .schedule(() -> endStalledBody(received), BODY_MS, TimeUnit.MILLISECONDS);
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    if (isDeciding() || !waiting.isEmpty()) {
      waiting.add(message);
    } else {
      accept(message);
    }
  }

  private boolean isDeciding() {
    return taken != null && taken.isComplete();
  }

  private void accept(Object message) {
    if (message instanceof HttpRequest) {
      requests++;
    }
    if (taken != null) {
      receive(taken, (HttpContent) message);
    } else if (!(message instanceof HttpRequest request) || !take(request)) {
      pass(message);
    }
  }

  private boolean take(HttpRequest request) {
    if (passed > 0 || passing || closing) {
      return false;
    }
    var peer = (InetSocketAddress) context.channel().remoteAddress();
    TakenRequest candidate = TakenRequest.of(request, routes, peer);
    if (candidate == null || !open.begin()) {
      return false;
    }
    taken = candidate;
    consumed = true;
    return true;
  }

  private void receive(TakenRequest request, HttpContent part) {
    consumed = true;
    request.receive(part);
    if (request.isComplete()) {
      var unused =
          request
              .decide()
              .thenAcceptAsync(answer -> send(answer, request.correlationId()), eventLoop);
    }
  }

  private void send(HttpAnswer answer, String correlationId) {
    FullHttpResponse response = HttpAnswerWriter.message(context.alloc(), answer, correlationId);
    var unused = context.writeAndFlush(response).addListener(written);
  }

  /** Not before the answer has left: a client that does not read its answers gets no more. */
  private void written(Future<Void> write) {
    taken = null;
    open.end();
    if (!write.isSuccess()) {
      if (!(write.cause() instanceof IOException)) {
        log.error("an answer cannot be written, the connection is closed", write.cause());
      }
      var unused = context.close();
    } else if (!draining && !waiting.isEmpty()) {
      drain();
    }
  }

  private void drain() {
    draining = true;
    while (!isDeciding() && !waiting.isEmpty()) {
      accept(waiting.remove());
    }
    draining = false;
    consumed = false;
    readOn();
  }

  /** Reactor Netty itself reads the rest of a request that it has begun to read. */
  private void readOn() {
    if (waiting.isEmpty() && passed == 0 && !passing) {
      context.read();
    }
  }

  private void pass(Object message) {
    if (message instanceof HttpRequest) {
      passed++;
      passing = true;
    }
    if (message instanceof LastHttpContent) {
      passing = false;
    }
    context.fireChannelRead(message);
  }

  /**
   * Reading is not automatic on this server. Asked for here, before the answer, it stays enabled in
   * epoll from one request to the next.
   */
  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) {
    if (consumed) {
      consumed = false;
      readOn();
    }
    ctx.fireChannelReadComplete();
  }

  /** Follows the answers of Reactor Netty. */
  @Override
  public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
    boolean interim = false;
    if (message instanceof HttpResponse response) {
      interim = response.status().codeClass() == HttpStatusClass.INFORMATIONAL;
      closing |= !interim && !HttpUtil.isKeepAlive(response);
    }
    if (message instanceof LastHttpContent && !interim) {
      passed--;
    }
    var unused = ctx.write(message, promise);
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    if (taken != null && !taken.isComplete()) {
      taken = null;
      open.end();
    }
    waiting.forEach(ReferenceCountUtil::release);
    waiting.clear();
    ctx.fireChannelInactive();
  }
}
