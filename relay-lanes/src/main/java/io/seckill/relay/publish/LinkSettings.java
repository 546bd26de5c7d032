package io.seckill.relay.publish;

import java.time.Duration;

/**
 * The settings that all links of one process share.
 *
 * @param service shown in the broker's list of connections
 * @param declares whether a link declares the topology, which takes more rights than to publish
 * @param window most unconfirmed publishes of a link
 * @param confirmTimeout longest wait for a confirm before the link is replaced
 */
public record LinkSettings(String service, boolean declares, int window, Duration confirmTimeout) {}
