/** Checks of settings, and the certificate authorities that connections trust. */
@NullMarked
package io.seckill.common.settings;

import org.jspecify.annotations.NullMarked;
