/**
 * Tries to break the pipeline: two gateways, two relays and two consumers as real processes, a load
 * that buys from them, faults done to everything, and every guarantee judged afterwards. The rows
 * are listed in docs/proof.md.
 */
@NullMarked
package io.seckill.system.faults;

import org.jspecify.annotations.NullMarked;
