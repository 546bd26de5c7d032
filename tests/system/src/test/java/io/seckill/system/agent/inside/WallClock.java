package io.seckill.system.agent.inside;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.nio.charset.StandardCharsets;
import java.security.ProtectionDomain;
import java.util.Arrays;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.utility.OpenedClassReader;
import org.jspecify.annotations.Nullable;

/**
 * Shifts the time of day of the process for every class of the service, of a library or of the JDK
 * that reads it by {@code System.currentTimeMillis()} or by a method that calls it ({@code
 * Instant.now}, {@code Clock}, {@code Date}). {@code System.nanoTime} and time-outs counted by the
 * operating system are monotonic and do not change, as when an operator sets a clock.
 *
 * <p>The two native methods cannot be changed, so every call of them is: the shift is added to the
 * returned value. A system property holds the shift, because classes of the JDK cannot access ours.
 *
 * <p>Locks of the JDK are left as they are: JVM 17 crashes in a garbage collection while a thread
 * waits in {@code Condition.awaitUninterruptibly} of a class that was changed meanwhile
 * (generateOopMap.cpp, "Illegal class file encountered"). Only waits until a time of day would read
 * the clock there, and no service has one.
 */
final class WallClock implements ClassFileTransformer {

  private static final String SHIFT = "seckill.agent.clock.shift.ms";
  private static final String MILLIS = "currentTimeMillis";

  private static final String LOCKS = "java/util/concurrent/locks/";

  /** Method of {@code jdk.internal.misc.VM}, called by {@code Instant.now}. */
  private static final String NANOS = "getNanoTimeAdjustment";

  private final Instrumentation instrumentation;
  private boolean installed;

  WallClock(Instrumentation instrumentation) {
    this.instrumentation = instrumentation;
  }

  /** Changes the classes that are already loaded and all that are loaded later. */
  private void install() {
    instrumentation.addTransformer(this, true);
    Class<?>[] loaded =
        Arrays.stream(instrumentation.getAllLoadedClasses())
            .filter(type -> instrumentation.isModifiableClass(type) && readsTheTime(type))
            .toArray(Class<?>[]::new);
    try {
      instrumentation.retransformClasses(loaded);
    } catch (UnmodifiableClassException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Sets the shift; zero restores the system's time. For one thread. */
  void shift(String millis) {
    if (!installed) {
      install();
      installed = true;
    }
    System.setProperty(SHIFT, millis);
  }

  @Override
  public byte @Nullable [] transform(
      @Nullable ClassLoader loader,
      @Nullable String className,
      @Nullable Class<?> redefined,
      @Nullable ProtectionDomain domain,
      byte[] classFile) {
    try {
      boolean isLock = className != null && className.startsWith(LOCKS);
      return !isLock && readsTheTime(classFile) ? changed(classFile) : null;
    } catch (RuntimeException | LinkageError e) {
      FaultAgent.fail("cannot change what " + className + " reads of the time", e);
      throw e;
    }
  }

  private static boolean readsTheTime(Class<?> type) {
    String name = type.getName().replace('.', '/');
    if (name.startsWith(LOCKS)) {
      return false;
    }
    String file = "/" + name + ".class";
    try (InputStream in = type.getResourceAsStream(file)) {
      return in != null && readsTheTime(in.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A class file contains the names of called methods as plain text. */
  private static boolean readsTheTime(byte[] classFile) {
    String text = new String(classFile, StandardCharsets.ISO_8859_1);
    return text.contains(MILLIS) || text.contains(NANOS);
  }

  private static byte[] changed(byte[] classFile) {
    ClassReader reader = OpenedClassReader.of(classFile);
    ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
    reader.accept(new AddsToEveryCall(writer), 0);
    return writer.toByteArray();
  }

  private static final class AddsToEveryCall extends ClassVisitor {

    AddsToEveryCall(ClassVisitor next) {
      super(OpenedClassReader.ASM_API, next);
    }

    @Override
    public MethodVisitor visitMethod(
        int access,
        String name,
        String descriptor,
        @Nullable String signature,
        String @Nullable [] exceptions) {
      MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
      return new MethodVisitor(OpenedClassReader.ASM_API, next) {
        @Override
        public void visitMethodInsn(
            int opcode, String owner, String called, String type, boolean ofInterface) {
          super.visitMethodInsn(opcode, owner, called, type, ofInterface);
          if (owner.equals("java/lang/System") && called.equals(MILLIS)) {
            addShift(this, 1);
          } else if (owner.equals("jdk/internal/misc/VM") && called.equals(NANOS)) {
            addShift(this, 1_000_000);
          }
        }
      };
    }

    private static void addShift(MethodVisitor code, long unitsPerMilli) {
      code.visitLdcInsn(SHIFT);
      code.visitInsn(Opcodes.LCONST_0);
      code.visitMethodInsn(
          Opcodes.INVOKESTATIC,
          "java/lang/Long",
          "getLong",
          "(Ljava/lang/String;J)Ljava/lang/Long;",
          false);
      code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, "java/lang/Long", "longValue", "()J", false);
      code.visitLdcInsn(unitsPerMilli);
      code.visitInsn(Opcodes.LMUL);
      code.visitInsn(Opcodes.LADD);
    }
  }
}
