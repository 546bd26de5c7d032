/** Checks of settings, used by all services. */
@org.jspecify.annotations.NullMarked
package io.seckill.common.settings;
