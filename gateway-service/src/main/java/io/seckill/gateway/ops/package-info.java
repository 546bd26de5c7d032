/** What operators watch while a sale runs: one stream of snapshots for the operations page. */
@NullMarked
package io.seckill.gateway.ops;

import org.jspecify.annotations.NullMarked;
