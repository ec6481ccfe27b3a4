package dev.faro.testing.interleaved;

import java.io.IOException;
import java.io.InputStream;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Loads the library again, with a point of {@link Interleaving} before each use of a field and each call of the classes
 * under test. This is our own code because Lincheck cannot repeat a seed, and Fray needs its own JDK.
 */
public final class Weaver extends ClassLoader {
    private static final String INTERLEAVING = Interleaving.class.getName().replace('.', '/');
    private static final String LOCKS = "java/util/concurrent/locks/";

    private final Set<String> woven;

    /**
     * Makes a loader.
     *
     * @param woven the classes that several kinds of threads run, by their names after {@code dev.faro.}; classes that are
     *     only called with a lock need not be woven
     */
    public Weaver(Set<String> woven) {
        super(Weaver.class.getClassLoader());
        this.woven = woven;
        // If a class moved, it would not be woven, and no test would notice.
        for (String name : woven) {
            if (getResource(file("dev.faro." + name)) == null) {
                throw new IllegalStateException("there is no class dev.faro." + name);
            }
        }
    }

    private static String file(String name) {
        return name.replace('.', '/') + ".class";
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        boolean own = name.startsWith("dev.faro.") && !name.startsWith(Interleaving.class.getName());
        if (!own) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded == null ? define(name) : loaded;
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        try (InputStream file = getResourceAsStream(file(name))) {
            byte[] bytes = file.readAllBytes();
            if (woven.contains(name.substring("dev.faro.".length()))) {
                bytes = weave(bytes);
            }
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    private static byte[] weave(byte[] bytes) {
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer = new ClassWriter(reader, 0);
        reader.accept(new ClassVisitor(Opcodes.ASM9, writer) {
            @Override
            public MethodVisitor visitMethod(
                    int access, String name, String descriptor, String signature, String[] exceptions) {
                if ((access & Opcodes.ACC_SYNCHRONIZED) != 0) {
                    throw new IllegalStateException("a synchronized method is not woven: " + name);
                }
                return new Points(super.visitMethod(access, name, descriptor, signature, exceptions));
            }
        }, 0);
        return writer.toByteArray();
    }

    /** Puts points into a method. */
    private static final class Points extends MethodVisitor {
        Points(MethodVisitor to) {
            super(Opcodes.ASM9, to);
        }

        private void call(String name) {
            super.visitMethodInsn(Opcodes.INVOKESTATIC, INTERLEAVING, name, "()V", false);
        }

        @Override
        public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
            call("point");
            super.visitFieldInsn(opcode, owner, name, descriptor);
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
            call("point");
            if (owner.equals(LOCKS + "LockSupport")) {
                super.visitMethodInsn(opcode, INTERLEAVING, name, descriptor, isInterface);
            } else if (opcode != Opcodes.INVOKESPECIAL
                    && (owner.equals(LOCKS + "ReentrantLock") || owner.equals(LOCKS + "Condition"))) {
                super.visitMethodInsn(Opcodes.INVOKESTATIC, INTERLEAVING, name, "(L" + owner + ";" + descriptor.substring(1),
                        false);
            } else {
                super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
            }
        }

        @Override
        public void visitInsn(int opcode) {
            if (opcode == Opcodes.MONITOREXIT) {
                call("leaving");
            }
            super.visitInsn(opcode);
            if (opcode == Opcodes.MONITORENTER) {
                call("entered");
            }
        }
    }
}
