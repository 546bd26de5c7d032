package io.seckill.gateway.orders;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The result of looking an order up in Redis or MySQL.
 *
 * @param order empty when the store does not have the order, or did not answer
 * @param answered false when the store did not answer, or its data cannot be read
 * @param known false when it did not answer, or may have lost the order
 */
record LookupResult<T>(Optional<T> order, boolean answered, boolean known) {

  static <T> LookupResult<T> of(@Nullable T order) {
    return new LookupResult<>(Optional.ofNullable(order), true, true);
  }

  static <T> LookupResult<T> unproven() {
    return new LookupResult<>(Optional.empty(), true, false);
  }

  static <T> LookupResult<T> unknown() {
    return new LookupResult<>(Optional.empty(), false, false);
  }
}
