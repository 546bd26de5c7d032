/** Checks of the manifests in {@code deploy/kubernetes}. */
@NullMarked
package io.seckill.system.kubernetes;

import org.jspecify.annotations.NullMarked;
