package io.seckill.relay.publish;

import java.time.Duration;

/**
 * What the links of one process have in common.
 *
 * @param service shown in the broker's list of connections
 * @param declares whether a link declares the topology, which takes more rights than to publish
 * @param window most unconfirmed publishes of a link
 * @param confirmTimeout longest wait for a confirm before the link is replaced
 */
public record LinkSettings(String service, boolean declares, int window, Duration confirmTimeout) {}
