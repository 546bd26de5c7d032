package io.seckill.gateway.security;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Demo mode, for local use: every caller can get a token.
 *
 * @param enabled whether sign-in pages issue tokens of any shopper and of an operator; refused at
 *     start together with a key set and under a production profile
 */
@ConfigurationProperties("seckill.demo")
record DemoProperties(@DefaultValue("false") boolean enabled) {}
