package io.seckill.support.redis;

import io.seckill.common.redis.RedisSettings;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** Binds {@code seckill.redis}: the record belongs to common, which does not use Spring. */
@Configuration(proxyBeanMethods = false)
public class RedisSettingsConfiguration {

  @Bean
  RedisSettings redisSettings(Environment environment) {
    return Binder.get(environment).bindOrCreate("seckill.redis", RedisSettings.class);
  }
}
