package io.seckill.gateway.web;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The gateway's own HTTP bounds.
 *
 * @param maxBodyBytes largest request body taken, 256..1,048,576
 */
@ConfigurationProperties("seckill.web")
record WebProperties(@DefaultValue("16384") int maxBodyBytes) {

  WebProperties {
    if (maxBodyBytes < 256 || maxBodyBytes > 1_048_576) {
      throw new IllegalArgumentException("seckill.web.max-body-bytes must be 256..1048576");
    }
  }
}
