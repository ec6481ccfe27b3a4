package dev.faro.flink;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.io.network.buffer.Buffer.DataType;
import org.apache.flink.runtime.io.network.buffer.Buffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Buffers that go to a consumer together. Each message over the network takes a network buffer and a credit, wakes a
 * thread at both ends and makes system calls there; what is compressed leaves most of a network buffer free. Flink 2.3
 * has messages of several buffers, 1.20 does not.
 */
final class Message {
    private static final Logger LOG = LoggerFactory.getLogger(Message.class);
    private static final String SEVERAL = "org.apache.flink.runtime.io.network.buffer.FullyFilledBuffer";
    /** Makes what several buffers go in, and adds one; null if this Flink has no such thing. */
    private static final MethodHandle NEW;
    private static final MethodHandle ADD;

    static {
        MethodHandle make = null;
        MethodHandle add = null;
        try {
            MethodHandles.Lookup lookup = MethodHandles.publicLookup();
            Class<?> several = Class.forName(SEVERAL, true, Buffer.class.getClassLoader());
            make = lookup.findConstructor(several,
                    MethodType.methodType(void.class, DataType.class, int.class, boolean.class))
                    .asType(MethodType.methodType(Buffer.class, DataType.class, int.class, boolean.class));
            add = lookup.findVirtual(several, "addPartialBuffer", MethodType.methodType(void.class, Buffer.class))
                    .asType(MethodType.methodType(void.class, Buffer.class, Buffer.class));
        } catch (ReflectiveOperationException | LinkageError e) {
            LOG.debug("Each buffer goes over the network in a message of its own: this Flink has no {}.", SEVERAL, e);
        }
        NEW = add == null ? null : make;
        ADD = add;
    }

    private final List<Buffer> buffers = new ArrayList<>(1);
    private int bytes;

    /** A message of one buffer so far. */
    Message(Buffer first) {
        put(first);
    }

    /** Whether this Flink has messages of several buffers. */
    static boolean canHoldSeveral() {
        return NEW != null;
    }

    private void put(Buffer buffer) {
        buffers.add(buffer);
        bytes += buffer.readableBytes();
    }

    /**
     * Adds a buffer, if it is of the type that is here, compressed or not as that is, and there is room.
     *
     * @param most bytes of a message
     */
    boolean add(Buffer buffer, int most) {
        Buffer first = buffers.get(0);
        boolean alike = first.getDataType() == buffer.getDataType()
                && first.isCompressed() == buffer.isCompressed();
        if (!alike || buffer.readableBytes() > most - bytes) {
            return false;
        }
        put(buffer);
        return true;
    }

    /** How many buffers go together: so many sequence numbers are theirs. */
    int size() {
        return buffers.size();
    }

    boolean isData() {
        return buffers.get(0).isBuffer();
    }

    DataType type() {
        return buffers.get(0).getDataType();
    }

    /** All of it as Flink has it; they are recycled with that. */
    Buffer toBuffer() {
        Buffer first = buffers.get(0);
        if (buffers.size() == 1) {
            return first;
        }
        try {
            Buffer all = (Buffer) NEW.invokeExact(first.getDataType(), bytes, first.isCompressed());
            for (Buffer buffer : buffers) {
                ADD.invokeExact(all, buffer);
            }
            return all;
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    void recycle() {
        buffers.forEach(Buffer::recycleBuffer);
    }
}
