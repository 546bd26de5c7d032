/** Which certificate authorities the services trust in TLS connections to their servers. */
@NullMarked
package io.seckill.common.tls;

import org.jspecify.annotations.NullMarked;
