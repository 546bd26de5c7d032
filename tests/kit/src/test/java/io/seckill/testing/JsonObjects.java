package io.seckill.testing;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Reads an array of JSON objects, their plain members and lists of texts only. It uses
 * jackson-core, the only JSON library of this module.
 */
final class JsonObjects {

  private static final JsonFactory JSON = new JsonFactory();

  private JsonObjects() {}

  /**
   * @return one map per object, with texts, numbers, booleans and lists of texts; other nested
   *     members and null are left out
   */
  static List<Map<String, Object>> parse(String array) {
    List<Map<String, Object>> objects = new ArrayList<>();
    try (JsonParser parser = JSON.createParser(ObjectReadContext.empty(), array)) {
      if (parser.nextToken() != JsonToken.START_ARRAY) {
        throw new IllegalArgumentException("Not a JSON array: " + array);
      }
      while (parser.nextToken() == JsonToken.START_OBJECT) {
        objects.add(plainMembers(parser));
      }
    }
    return objects;
  }

  private static Map<String, Object> plainMembers(JsonParser parser) {
    Map<String, Object> members = new HashMap<>();
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String name = parser.currentName();
      parser.nextToken();
      Object value = plainValue(parser);
      if (value != null) {
        members.put(name, value);
      }
    }
    return members;
  }

  private static @Nullable Object plainValue(JsonParser parser) {
    return switch (parser.currentToken()) {
      case VALUE_STRING -> parser.getString();
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> parser.getNumberValue();
      case VALUE_TRUE, VALUE_FALSE -> parser.getBooleanValue();
      case START_ARRAY -> texts(parser);
      default -> {
        parser.skipChildren();
        yield null;
      }
    };
  }

  private static List<String> texts(JsonParser parser) {
    List<String> texts = new ArrayList<>();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      if (parser.currentToken() == JsonToken.VALUE_STRING) {
        texts.add(parser.getString());
      } else {
        parser.skipChildren();
      }
    }
    return texts;
  }
}
