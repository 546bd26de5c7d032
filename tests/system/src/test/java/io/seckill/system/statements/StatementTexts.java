package io.seckill.system.statements;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import net.bytebuddy.jar.asm.AnnotationVisitor;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.FieldVisitor;
import net.bytebuddy.jar.asm.Handle;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import org.jspecify.annotations.Nullable;

/**
 * Finds SQL in compiled classes: every string that the code loads or concatenates, so that a
 * statement is found wherever it is written and however it is put together. The compiler has joined
 * constants already; what it cannot join, a {@link #HOLE} stands for.
 */
final class StatementTexts {

  /** A part of a concatenation that is known only when the code runs. */
  static final String HOLE = "\u0001";

  private static final Pattern STATEMENT =
      Pattern.compile(
          "(SELECT|INSERT|UPDATE|DELETE|REPLACE|WITH|SET|CALL|DO|LOAD|TRUNCATE|CREATE|ALTER|DROP"
              + "|LOCK|KILL|HANDLER|TABLE)\\b.*"
              + "|(?i:select .* from .*|(insert|replace) into .*|update \\S+( \\S+)? set .*"
              + "|delete from .*)");

  /** Such words in capitals are in no message for people. */
  private static final Pattern CLAUSE =
      Pattern.compile(
          ".*\\b(FROM|WHERE|JOIN|UNION|ORDER BY|GROUP BY|HAVING|LIMIT|FOR UPDATE|FOR SHARE|SKIP"
              + " LOCKED|INTERVAL|VALUES)\\b.*");

  /** Single conditions and columns, which only classes with statements have. */
  private static final Pattern CONDITION =
      Pattern.compile(".*\\b(AND|OR|IN|IS|NOT|NULL|LIKE|DESC|SET)\\b.*|[a-z]{1,2}\\.[a-z_]+");

  private static final String QUERY = "Lorg/springframework/data/jpa/repository/Query;";
  private static final String REPOSITORY = "org/springframework/data/repository/Repository";
  private static final String ENTITY = "Ljakarta/persistence/Entity;";
  private static final String COLLECTION = "Ljakarta/persistence/ElementCollection;";
  private static final String ENTITY_MANAGER = "jakarta/persistence/EntityManager";

  /** By which code reaches the database without a statement of its own. */
  private static final Set<String> NO_STATEMENT = Set.of("clear", "close", "isOpen", "detach");

  private StatementTexts() {}

  /**
   * A string in the code.
   *
   * @param owner name of the outermost class
   * @param value with single spaces, none around it
   * @param whole whether a statement begins with it; else it is part of one
   */
  record Text(String owner, String value, boolean whole) {}

  /** Those of all modules under this directory. */
  static List<Text> under(Path root) throws IOException {
    List<Text> texts = new ArrayList<>();
    try (Stream<Path> modules = Files.list(root)) {
      modules
          .filter(module -> Files.isDirectory(module.resolve("src/main/java")))
          .map(module -> module.resolve("target/classes"))
          .forEach(classes -> texts.addAll(ofModule(classes)));
    }
    return texts;
  }

  private static List<Text> ofModule(Path classes) {
    try (Stream<Path> files = Files.walk(classes)) {
      return files
          .filter(file -> file.toString().endsWith(".class"))
          .sorted()
          .flatMap(file -> of(read(file)).stream())
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static byte[] read(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Those of one class, each once. */
  static List<Text> of(byte[] classFile) {
    Strings strings = new Strings();
    new ClassReader(classFile).accept(strings, ClassReader.SKIP_DEBUG);
    boolean hasStatement = strings.found.stream().anyMatch(StatementTexts::isStatement);
    Stream<Text> texts =
        strings.found.stream()
            .filter(text -> isStatement(text) || isPart(text, hasStatement))
            .map(text -> new Text(strings.owner, plain(text), isStatement(text)));
    Stream<Text> generated =
        strings.generated.stream().map(name -> new Text(strings.owner, name, true));
    return Stream.concat(texts, generated).distinct().toList();
  }

  static String plain(String text) {
    return text.replaceAll("\\s+", " ").strip();
  }

  private static boolean isStatement(String text) {
    return STATEMENT.matcher(plain(text)).matches();
  }

  /** One word alone is the name of something. */
  private static boolean isPart(String text, boolean hasStatement) {
    String line = text.replaceAll("\\s+", " ");
    boolean isColumn = line.equals(line.toLowerCase(Locale.ROOT));
    return (line.contains(" ") || isColumn)
        && (CLAUSE.matcher(line).matches() || (hasStatement && CONDITION.matcher(line).matches()));
  }

  /** Collects what the code of a class loads, and what Hibernate makes of it. */
  private static final class Strings extends ClassVisitor {

    private final List<String> found = new ArrayList<>();

    /**
     * Methods without a text, and collections, for which Hibernate makes a statement; "update" for
     * changes of an entity.
     */
    private final List<String> generated = new ArrayList<>();

    private String owner = "";
    private boolean isRepository;

    Strings() {
      super(Opcodes.ASM9);
    }

    @Override
    public void visit(
        int version,
        int access,
        String name,
        @Nullable String signature,
        @Nullable String superName,
        String @Nullable [] interfaces) {
      owner = name.replaceFirst("[$].*", "").replace('/', '.');
      isRepository = interfaces != null && List.of(interfaces).contains(REPOSITORY);
    }

    @Override
    public @Nullable AnnotationVisitor visitAnnotation(String type, boolean visible) {
      if (type.equals(ENTITY)) {
        generated.add("update");
      }
      return null;
    }

    @Override
    public FieldVisitor visitField(
        int access,
        String field,
        String descriptor,
        @Nullable String signature,
        @Nullable Object value) {
      return new FieldVisitor(Opcodes.ASM9) {
        @Override
        public @Nullable AnnotationVisitor visitAnnotation(String type, boolean visible) {
          if (type.equals(COLLECTION)) {
            generated.add(field);
          }
          return null;
        }
      };
    }

    @Override
    public MethodVisitor visitMethod(
        int access,
        String method,
        String descriptor,
        @Nullable String signature,
        String @Nullable [] exceptions) {
      if (isRepository && (access & Opcodes.ACC_ABSTRACT) != 0) {
        generated.add(method);
      }
      return new MethodVisitor(Opcodes.ASM9) {

        @Override
        public void visitLdcInsn(Object value) {
          add(value);
        }

        @Override
        public void visitInvokeDynamicInsn(
            String name, String descriptor, Handle bootstrap, Object... arguments) {
          List.of(arguments).forEach(Strings.this::add);
        }

        @Override
        public void visitMethodInsn(
            int opcode, String type, String name, String descriptor, boolean isInterface) {
          if (type.equals(ENTITY_MANAGER) && !NO_STATEMENT.contains(name)) {
            generated.add(name);
          }
        }

        @Override
        public AnnotationVisitor visitAnnotation(String type, boolean visible) {
          return new AnnotationVisitor(Opcodes.ASM9) {
            @Override
            public void visit(@Nullable String name, Object value) {
              if (type.equals(QUERY)) {
                generated.remove(method);
                add(value);
              }
            }
          };
        }
      };
    }

    private void add(Object value) {
      if (value instanceof String text) {
        found.add(text.replace("\u0002", HOLE));
      }
    }
  }
}
