package io.seckill.gateway.security;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Demo mode, for a machine of one's own: whoever asks gets a token.
 *
 * @param enabled whether sign-in pages hand out tokens of any shopper and of an operator; refused
 *     at start together with a key set and under a production profile
 */
@ConfigurationProperties("seckill.demo")
record DemoProperties(@DefaultValue("false") boolean enabled) {}
