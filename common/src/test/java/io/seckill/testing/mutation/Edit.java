package io.seckill.testing.mutation;

/** One change to what the product consists of. Class names are binary names. */
sealed interface Edit {

  /** What is changed: the path of a class file or another resource. */
  String path();

  private static String classFile(String className) {
    return className.replace('.', '/') + ".class";
  }

  /**
   * Calls that go somewhere else: in {@code method} of {@code className}, lambdas included, those
   * of {@code owner.called} become calls of the static method of that name in {@code replacement},
   * which gets the receiver as its first argument.
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

  /** A text on the class path, in which {@code from}, there exactly once, becomes {@code to}. */
  record Text(String path, String from, String to) implements Edit {}
}
