/**
 * Faults of the HA form: Redis with Sentinels or as a Cluster, three RabbitMQ nodes, two MySQL
 * servers. Rows 42 to 61 of docs/proof.md.
 */
@NullMarked
package io.seckill.system.ha;

import org.jspecify.annotations.NullMarked;
