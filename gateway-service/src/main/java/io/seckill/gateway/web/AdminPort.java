package io.seckill.gateway.web;

import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.stereotype.Component;
import reactor.netty.DisposableServer;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.server.HttpServer;

/**
 * The admin port: a second HTTP server in front of the same handler, which marks its requests. It
 * starts before the shoppers' server and stops after it, so that probes can follow the start and
 * the stop. On stop it accepts no new request and waits a bounded time for active ones.
 */
@Component
final class AdminPort implements SmartLifecycle {

  /** Environment property with the port in use, once started. */
  static final String LOCAL_PORT_PROPERTY = "local.admin.port";

  private static final Logger log = LoggerFactory.getLogger(AdminPort.class);
  private static final Duration IDLE_BETWEEN_REQUESTS = Duration.ofSeconds(75);

  /** Within a request; a preheat says nothing for up to five minutes. */
  private static final Duration IDLE = Duration.ofMinutes(6);

  /** Longest wait for active requests on stop; operators can repeat theirs. */
  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);

  private final AdminPortProperties settings;
  private final HttpHandler handler;
  private final ReactorResourceFactory resources;
  private final ConfigurableEnvironment environment;
  private final ExchangeTurn exchangeTurn;
  private final RefusedRequests refused;
  private final int maxHeadBytes;
  private volatile @Nullable DisposableServer server;

  AdminPort(
      AdminPortProperties settings,
      HttpHandler handler,
      ReactorResourceFactory resources,
      ConfigurableEnvironment environment,
      ExchangeTurn exchangeTurn,
      RefusedRequests refused,
      ServerProperties shoppers) {
    this.settings = settings;
    this.handler = handler;
    this.resources = resources;
    this.environment = environment;
    this.exchangeTurn = exchangeTurn;
    this.refused = refused;
    this.maxHeadBytes = (int) shoppers.getMaxHttpRequestHeaderSize().toBytes();
  }

  /** The server, not bound yet. */
  HttpServer unbound() {
    HttpHandler marked =
        (request, response) -> handler.handle(request, response).contextWrite(Port.ADMIN::mark);
    return new IdleTimeout(IDLE)
        .apply(exchangeTurn.apply(HttpServer.create()))
        .runOn(resources.getLoopResources())
        .host(settings.address())
        .port(settings.port())
        .protocol(HttpProtocol.HTTP11)
        .httpRequestDecoder(decoder -> decoder.maxHeaderSize(maxHeadBytes))
        .idleTimeout(IDLE_BETWEEN_REQUESTS)
        .doOnChannelInit(
            (observer, channel, remote) -> MessageRules.addTo(channel.pipeline(), refused))
        // With a group, disposeNow waits for the active exchanges.
        .channelGroup(new DefaultChannelGroup(GlobalEventExecutor.INSTANCE))
        .handle(new ReactorHttpHandlerAdapter(marked));
  }

  @Override
  public void start() {
    DisposableServer started = unbound().bindNow();
    server = started;
    publish(started.port());
    log.info("admin port {} is open", started.port());
  }

  @Override
  public void stop() {
    DisposableServer running = server;
    if (running != null) {
      server = null;
      running.disposeNow(STOP_TIMEOUT);
    }
  }

  @Override
  public boolean isRunning() {
    return server != null;
  }

  @Override
  public int getPhase() {
    return WebServerApplicationContext.START_STOP_LIFECYCLE_PHASE - 1;
  }

  private void publish(int port) {
    environment
        .getPropertySources()
        .addFirst(new MapPropertySource(LOCAL_PORT_PROPERTY, Map.of(LOCAL_PORT_PROPERTY, port)));
  }
}
