/**
 * Fault tests of the pipeline: two gateways, two relays and two consumers as real processes, a load
 * that buys from them, faults in every component, and a check of every guarantee afterwards.
 * docs/proof.md lists the rows.
 */
@NullMarked
package io.seckill.system.faults;

import org.jspecify.annotations.NullMarked;
