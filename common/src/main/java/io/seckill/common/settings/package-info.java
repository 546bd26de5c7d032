/** What all services check their settings with. */
@org.jspecify.annotations.NullMarked
package io.seckill.common.settings;
