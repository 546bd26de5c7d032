package io.seckill.support.web;

import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Checks values of requests; each refusal is a 400 that names the field. */
public final class RequestChecks {

  private RequestChecks() {}

  /**
   * @return the value, from min to max, both included
   * @throws ProblemException 400 when it is absent or out of bounds
   */
  public static long integer(String field, @Nullable Long value, long min, long max) {
    return integer(field, value == null ? min - 1 : value.longValue(), min, max);
  }

  /** The same for a value that is there. */
  public static long integer(String field, long value, long min, long max) {
    if (value < min || value > max) {
      throw ProblemException.invalid(
          field, field + " must be an integer from " + min + " to " + max + ".");
    }
    return value;
  }

  /** Throws ProblemException 400 unless the list has 1 to max elements and none is null. */
  public static void list(String field, @Nullable List<?> list, int max) {
    if (list == null
        || list.isEmpty()
        || list.size() > max
        || list.stream().anyMatch(Objects::isNull)) {
      throw ProblemException.invalid(
          field, field + " must be an array of 1 to " + max + " objects.");
    }
  }

  /**
   * @return the constant of that name; the comparison is case-sensitive
   * @throws ProblemException 400 when none of the allowed constants has it
   */
  public static <E extends Enum<E>> E oneOf(String field, @Nullable String name, Set<E> allowed) {
    return allowed.stream()
        .filter(constant -> constant.name().equals(name))
        .findFirst()
        .orElseThrow(
            () -> ProblemException.invalid(field, field + " must be one of " + allowed + "."));
  }

  /** The same with all constants of a type. */
  public static <E extends Enum<E>> E oneOf(String field, @Nullable String name, Class<E> type) {
    return oneOf(field, name, EnumSet.allOf(type));
  }
}
