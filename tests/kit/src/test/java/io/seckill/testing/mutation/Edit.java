package io.seckill.testing.mutation;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** One change to a class or resource of the product. Class names are binary names. */
sealed interface Edit {

  /** The path of the class file or other resource that is changed. */
  String path();

  /** The path of a class file. */
  static String classFile(String className) {
    return className.replace('.', '/') + ".class";
  }

  /**
   * Redirects calls: in {@code method} of {@code className}, lambdas included, calls of {@code
   * owner.called} become calls of the static method of that name in {@code replacement}, which gets
   * the receiver as its first argument.
   *
   * @param firstOnly whether only the first call in each method is changed
   */
  record Call(
      String className,
      String method,
      String owner,
      String called,
      Class<?> replacement,
      boolean firstOnly)
      implements Edit {
    @Override
    public String path() {
      return classFile(className);
    }
  }

  /** A string constant of a class, in which {@code from} becomes {@code to}. */
  record Constant(String className, String from, String to) implements Edit {
    @Override
    public String path() {
      return classFile(className);
    }
  }

  /** A text file on the class path; {@code from} occurs exactly once and becomes {@code to}. */
  record Text(String path, String from, String to) implements Edit {

    private byte[] apply(byte[] file) {
      String before = new String(file, StandardCharsets.UTF_8);
      int at = before.indexOf(from);
      if (at < 0 || before.indexOf(from, at + 1) >= 0) {
        throw new IllegalArgumentException("not there exactly once: " + this);
      }
      return before.replace(from, to).getBytes(StandardCharsets.UTF_8);
    }
  }

  /**
   * Applies edits to the files they name.
   *
   * @param original returns the unchanged file for a path
   * @return the changed files by path
   * @throws IllegalArgumentException when one of the edits has nothing to change
   */
  static Map<String, byte[]> apply(List<Edit> edits, Function<String, byte[]> original) {
    Map<String, List<Edit>> byPath = edits.stream().collect(Collectors.groupingBy(Edit::path));
    Map<String, byte[]> changed = new HashMap<>();
    byPath.forEach(
        (path, ofFile) -> {
          byte[] file = original.apply(path);
          if (path.endsWith(".class")) {
            file = ClassEdits.apply(file, ofFile);
          } else {
            for (Edit edit : ofFile) {
              file = ((Text) edit).apply(file);
            }
          }
          changed.put(path, file);
        });
    return changed;
  }
}
