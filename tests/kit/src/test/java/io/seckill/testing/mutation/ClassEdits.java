package io.seckill.testing.mutation;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import org.jspecify.annotations.Nullable;

/** Applies edits to one class file, and shortens its Awaitility waits with {@link Patience}. */
final class ClassEdits extends ClassVisitor {

  private final List<Edit> edits;
  private final Set<Edit> applied = new HashSet<>();

  private ClassEdits(ClassVisitor next, List<Edit> edits) {
    super(Opcodes.ASM9, next);
    this.edits = edits;
  }

  /**
   * @throws IllegalArgumentException when an edit has nothing to change
   */
  static byte[] apply(byte[] classFile, List<Edit> edits) {
    ClassWriter changed = new ClassWriter(0);
    ClassEdits visitor = new ClassEdits(changed, edits);
    new ClassReader(classFile).accept(visitor, 0);
    List<Edit> idle = new ArrayList<>(edits);
    idle.removeAll(visitor.applied);
    if (!idle.isEmpty()) {
      throw new IllegalArgumentException("there is nothing to change for " + idle);
    }
    return changed.toByteArray();
  }

  @Override
  public MethodVisitor visitMethod(
      int access,
      String name,
      String descriptor,
      @Nullable String signature,
      String @Nullable [] exceptions) {
    return new Method(super.visitMethod(access, name, descriptor, signature, exceptions), name);
  }

  private final class Method extends MethodVisitor {

    private final String name;
    private final Set<Edit> done = new HashSet<>();

    Method(MethodVisitor next, String name) {
      super(Opcodes.ASM9, next);
      this.name = name;
    }

    @Override
    public void visitLdcInsn(Object value) {
      Object changed = value;
      for (Edit edit : edits) {
        if (edit instanceof Edit.Constant one
            && changed instanceof String text
            && text.contains(one.from())) {
          changed = text.replace(one.from(), one.to());
          applied.add(edit);
        }
      }
      super.visitLdcInsn(changed);
    }

    @Override
    public void visitMethodInsn(
        int opcode, String owner, String called, String descriptor, boolean ofInterface) {
      Class<?> replacement = Patience.of(owner, called, descriptor);
      for (Edit edit : edits) {
        if (edit instanceof Edit.Call call && isMeant(call, owner, called)) {
          replacement = call.replacement();
          applied.add(edit);
          done.add(edit);
        }
      }
      if (replacement == null) {
        super.visitMethodInsn(opcode, owner, called, descriptor, ofInterface);
      } else {
        String withReceiver = opcode == Opcodes.INVOKESTATIC ? "" : 'L' + owner + ';';
        super.visitMethodInsn(
            Opcodes.INVOKESTATIC,
            replacement.getName().replace('.', '/'),
            called,
            '(' + withReceiver + descriptor.substring(1),
            false);
      }
    }

    private boolean isMeant(Edit.Call call, String owner, String called) {
      boolean here = name.equals(call.method()) || name.startsWith("lambda$" + call.method() + '$');
      return here
          && called.equals(call.called())
          && owner.equals(call.owner().replace('.', '/'))
          && !(call.firstOnly() && done.contains(call));
    }
  }
}
