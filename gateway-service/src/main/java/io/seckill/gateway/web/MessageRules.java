package io.seckill.gateway.web;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.netty.util.AsciiString;
import io.netty.util.ReferenceCountUtil;
import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;
import reactor.netty.NettyPipeline;

/**
 * Applies the rules of RFC 9112 that the HTTP codec leaves to others, so that {@link DirectHandler}
 * and Reactor Netty get the same requests: one Host, a transfer coding that is read, an expectation
 * that can be met, and the target in one form. A request that breaks a rule, or that the codec
 * could not read, is passed on as unreadable; Reactor Netty answers it in turn and closes the
 * connection. Those answers, which are bare, become problems.
 *
 * <p>Only the connection's event loop uses it.
 */
final class MessageRules extends ChannelDuplexHandler {

  private static final AsciiString CHUNKED = AsciiString.cached("chunked");
  private static final AsciiString CONTINUE = AsciiString.cached("100-continue");
  private static final HttpAnswer.Header CLOSE = new HttpAnswer.Header("Connection", "close");

  private final RefusedRequests refused;

  /** Why the last request of this connection is refused; null until it is. */
  private @Nullable ProblemCode refusal;

  private @Nullable String correlationId;

  private MessageRules(RefusedRequests refused) {
    this.refused = refused;
  }

  /**
   * Adds the rules, behind them the other handler, and {@link BodyCopies} before Reactor Netty, to
   * a connection of HTTP/1.1. One whose protocol is still to be negotiated has no codec, and gets
   * none of them.
   */
  static void addTo(
      ChannelPipeline pipeline, RefusedRequests refused, ChannelDuplexHandler... behind) {
    if (pipeline.get(NettyPipeline.HttpCodec) == null) {
      return;
    }
    String last = MessageRules.class.getSimpleName();
    pipeline.addAfter(NettyPipeline.HttpCodec, last, new MessageRules(refused));
    for (ChannelDuplexHandler handler : behind) {
      pipeline.addAfter(last, handler.getClass().getSimpleName(), handler);
      last = handler.getClass().getSimpleName();
    }
    pipeline.addAfter(last, BodyCopies.class.getSimpleName(), BodyCopies.HANDLER);
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    if (refusal != null) {
      ReferenceCountUtil.release(message); // the connection ends with the refusal
      return;
    }
    if (message instanceof HttpObject part && part.decoderResult().isFailure()) {
      refuse(message, unreadable(part.decoderResult().cause()));
    } else if (message instanceof HttpRequest request) {
      ProblemCode broken = brokenRule(request);
      if (broken != null) {
        request.setDecoderResult(DecoderResult.failure(ProblemException.of(broken)));
        refuse(message, broken);
      }
    }
    ctx.fireChannelRead(message);
  }

  private void refuse(Object message, ProblemCode code) {
    refusal = code;
    correlationId =
        CorrelationId.orNew(
            message instanceof HttpRequest request
                ? request.headers().get(CorrelationId.HEADER)
                : null);
  }

  private static ProblemCode unreadable(Throwable cause) {
    if (cause instanceof TooLongHttpLineException) {
      return ProblemCode.URI_TOO_LONG;
    }
    return cause instanceof TooLongHttpHeaderException
        ? ProblemCode.HEADERS_TOO_LARGE
        : ProblemCode.INVALID_REQUEST;
  }

  /** Brings the target into its normal form; returns null if the request breaks no rule. */
  private static @Nullable ProblemCode brokenRule(HttpRequest request) {
    HttpHeaders headers = request.headers();
    HttpVersion version = request.protocolVersion();
    if (version.majorVersion() != 1) {
      return ProblemCode.VERSION_NOT_SUPPORTED;
    }
    if (!hasHost(headers, version.minorVersion() > 0)) {
      return ProblemCode.INVALID_REQUEST;
    }
    String target = RequestTarget.normalized(request.method().name(), request.uri());
    if (target == null) {
      return ProblemCode.INVALID_REQUEST;
    }
    request.setUri(target);
    if (!isOnly(headers, HttpHeaderNames.TRANSFER_ENCODING, CHUNKED)) {
      return ProblemCode.NOT_IMPLEMENTED;
    }
    return isOnly(headers, HttpHeaderNames.EXPECT, CONTINUE)
        ? null
        : ProblemCode.EXPECTATION_FAILED;
  }

  /**
   * Section 3.2 of RFC 9112; a colon without a port, which Reactor Netty does not read, is removed.
   */
  private static boolean hasHost(HttpHeaders headers, boolean isNeeded) {
    Iterator<String> hosts = headers.valueStringIterator(HttpHeaderNames.HOST);
    if (!hosts.hasNext()) {
      return !isNeeded;
    }
    String host = hosts.next();
    if (hosts.hasNext() || !RequestTarget.isHost(host)) {
      return false;
    }
    if (host.endsWith(":")) {
      headers.set(HttpHeaderNames.HOST, host.substring(0, host.length() - 1));
    }
    return true;
  }

  private static boolean isOnly(HttpHeaders headers, AsciiString name, AsciiString value) {
    Iterator<? extends CharSequence> values = headers.valueCharSequenceIterator(name);
    return !values.hasNext() || (value.contentEqualsIgnoreCase(values.next()) && !values.hasNext());
  }

  /** Every other answer has a correlation id. */
  @Override
  public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
    if (message instanceof FullHttpResponse bare
        && bare.status().code() >= 400
        && !bare.headers().contains(CorrelationId.HEADER)) {
      var unused = ctx.write(problem(ctx, bare), promise);
      bare.release();
    } else {
      var unused = ctx.write(message, promise);
    }
  }

  private FullHttpResponse problem(ChannelHandlerContext ctx, FullHttpResponse bare) {
    ProblemCode code = refusal == null ? ProblemCode.ofStatus(bare.status().code()) : refusal;
    refused.count(code);
    String id = correlationId == null ? CorrelationId.orNew(null) : correlationId;
    HttpAnswer answer = HttpAnswer.problem(Problem.of(code), id).with(CLOSE);
    return HttpAnswerWriter.message(ctx.alloc(), answer, id);
  }
}
