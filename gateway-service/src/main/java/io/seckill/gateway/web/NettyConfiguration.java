package io.seckill.gateway.web;

import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.client.ReactorResourceFactory;

/** One set of event loops for this gateway's servers and clients, stopped with the gateway. */
@Configuration(proxyBeanMethods = false)
class NettyConfiguration {

  /**
   * Not the JVM's global loops: stopping one gateway must not stop those of another. They end last,
   * when every server has drained and every client is closed, so they wait for no further work.
   */
  @Bean
  ReactorResourceFactory reactorResourceFactory() {
    ReactorResourceFactory resources = new ReactorResourceFactory();
    resources.setUseGlobalResources(false);
    resources.setShutdownQuietPeriod(Duration.ZERO);
    return resources;
  }
}
