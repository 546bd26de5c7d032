package io.seckill.gateway.web;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.util.concurrent.Executor;
import reactor.netty.http.server.HttpServerResponse;

/** Runs tasks on a connection's event loop. */
final class EventLoops {

  private EventLoops() {}

  /** Runs a task at once if called on the event loop's thread, else queues it there. */
  static Executor of(Channel channel) {
    EventLoop loop = channel.eventLoop();
    return task -> {
      if (loop.inEventLoop()) {
        task.run();
      } else {
        loop.execute(task);
      }
    };
  }

  /** As {@link #of(Channel)}, for the connection that the response goes to. */
  static Executor of(HttpServerResponse response) {
    return task -> response.withConnection(to -> of(to.channel()).execute(task));
  }
}
