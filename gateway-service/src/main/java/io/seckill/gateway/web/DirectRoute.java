package io.seckill.gateway.web;

import io.netty.handler.codec.http.HttpMethod;
import java.util.concurrent.CompletionStage;

/**
 * A call so frequent that it is answered without Spring's web framework: by {@link DirectHandler}
 * if the request is whole, small and ordinary HTTP/1.1, else by Reactor Netty. Both give the same
 * answer.
 */
public interface DirectRoute {

  /** Whether this route answers requests of this method to this path and query. */
  boolean matches(HttpMethod method, String uri);

  /** Longest body that the route reads, in bytes; 0 when it ignores the body. */
  int maxBodyBytes();

  /**
   * Decides on a request. Called on the connection's event loop, never blocks.
   *
   * @param body at most {@link #maxBodyBytes} bytes
   * @return completed once, by any thread; a failure becomes the answer 500
   */
  CompletionStage<HttpAnswer> answer(RequestHead head, byte[] body);
}
