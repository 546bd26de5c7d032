package io.seckill.consumer.web;

import io.seckill.support.web.ProblemException;
import io.seckill.support.web.SingleLine;
import io.seckill.support.web.StrictJson;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.OptionalLong;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * A request body, read member by member. It must be one JSON object without repeated members or
 * trailing text. Values are not converted between types, and null is the same as absent. Every
 * refusal names the member. {@link #end} refuses members that were not read.
 */
public final class JsonBody {

  /** Of times; far within what MySQL's DATETIME can hold. */
  private static final Instant EARLIEST = Instant.parse("2000-01-01T00:00:00Z");

  private static final Instant LATEST = Instant.parse("2100-01-01T00:00:00Z");

  private final JsonNode members;
  private final Set<String> asked = new HashSet<>();

  private JsonBody(JsonNode members) {
    this.members = members;
  }

  /**
   * @throws ProblemException 400 when it is not one JSON object
   */
  static JsonBody parse(byte[] body) {
    try {
      JsonNode node = StrictJson.MAPPER.readTree(body);
      if (!node.isObject()) {
        throw ProblemException.invalid("body", "The body must be a JSON object.");
      }
      return new JsonBody(node);
    } catch (JacksonException e) {
      throw ProblemException.invalid("body", "The body is not valid JSON.");
    }
  }

  /**
   * @return an integer from min to max, both included
   * @throws ProblemException 400 naming the member
   */
  public long integer(String name, long min, long max) {
    return optionalInteger(name, min, max)
        .orElseThrow(() -> ProblemException.invalid(name, name + " is missing."));
  }

  /** As {@link #integer}; empty when absent or null. */
  public OptionalLong optionalInteger(String name, long min, long max) {
    JsonNode value = member(name);
    if (isAbsent(value)) {
      return OptionalLong.empty();
    }
    if (!value.isIntegralNumber()
        || !value.canConvertToLong()
        || value.longValue() < min
        || value.longValue() > max) {
      throw ProblemException.invalid(
          name, name + " must be an integer from " + min + " to " + max + ".");
    }
    return OptionalLong.of(value.longValue());
  }

  /**
   * @return true or false
   * @throws ProblemException 400 naming the member
   */
  public boolean bool(String name) {
    JsonNode value = member(name);
    if (!value.isBoolean()) {
      throw ProblemException.invalid(name, name + " must be true or false.");
    }
    return value.booleanValue();
  }

  /**
   * @param maxLength in UTF-16 units
   * @return a text of at least one character, without control characters or unpaired surrogates
   * @throws ProblemException 400 naming the member
   */
  public String text(String name, int maxLength) {
    return SingleLine.checked(name, string(name), maxLength);
  }

  /**
   * @return the constant of that name; the comparison is case-sensitive
   * @throws ProblemException 400 naming the member
   */
  public <E extends Enum<E>> E oneOf(String name, Set<E> allowed) {
    String text = string(name);
    return allowed.stream()
        .filter(constant -> constant.name().equals(text))
        .findFirst()
        .orElseThrow(
            () -> ProblemException.invalid(name, name + " must be one of " + allowed + "."));
  }

  /**
   * @return a moment of the years 2000 to 2099, in whole milliseconds
   * @throws ProblemException 400 naming the member
   */
  public Instant instant(String name) {
    String text = string(name);
    try {
      Instant instant = Instant.parse(text);
      if (text.endsWith("Z")
          && instant.equals(instant.truncatedTo(ChronoUnit.MILLIS))
          && !instant.isBefore(EARLIEST)
          && instant.isBefore(LATEST)) {
        return instant;
      }
    } catch (DateTimeException e) {
      // refused below, as other invalid texts are
    }
    throw ProblemException.invalid(
        name,
        name + " must be a UTC time such as 2026-11-21T10:00:00Z, with at most milliseconds.");
  }

  /**
   * Checks that every member of the body has been read.
   *
   * @throws ProblemException 400 when the body has a member that was not read
   */
  public void end() {
    for (String name : members.propertyNames()) {
      if (!asked.contains(name)) {
        throw ProblemException.invalid(
            StrictJson.shown(name), "The body has a member that is not known here.");
      }
    }
  }

  private String string(String name) {
    JsonNode value = member(name);
    if (isAbsent(value)) {
      throw ProblemException.invalid(name, name + " is missing.");
    }
    if (!value.isString()) {
      throw ProblemException.invalid(name, name + " must be a text.");
    }
    return value.stringValue();
  }

  private JsonNode member(String name) {
    asked.add(name);
    return members.path(name);
  }

  private static boolean isAbsent(JsonNode value) {
    return value.isMissingNode() || value.isNull();
  }
}
