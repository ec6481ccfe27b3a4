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
 * Buffers that are sent to a consumer together. Each message over the network takes a network buffer and a credit, and
 * wakes a thread at both ends, which makes system calls. A compressed buffer leaves most of a network buffer unused.
 * Flink 2.3 has messages of several buffers, Flink 1.20 does not.
 */
final class Message {
    private static final Logger LOG = LoggerFactory.getLogger(Message.class);
    private static final String SEVERAL = "org.apache.flink.runtime.io.network.buffer.FullyFilledBuffer";
    /** These make a message for several buffers, and add one; null if this Flink has no such class. */
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
            LOG.debug("Each buffer is sent in a separate message: this Flink has no {}.", SEVERAL, e);
        }
        NEW = add == null ? null : make;
        ADD = add;
    }

    private final List<Buffer> buffers = new ArrayList<>(1);
    private int bytes;

    /** Makes a message of one buffer. */
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
     * Adds a buffer, if it has the type of the others, is compressed if they are, and there is room.
     *
     * @param max the maximum size of a message in bytes
     */
    boolean add(Buffer buffer, int max) {
        Buffer first = buffers.get(0);
        boolean alike = first.getDataType() == buffer.getDataType()
                && first.isCompressed() == buffer.isCompressed();
        if (!alike || buffer.readableBytes() > max - bytes) {
            return false;
        }
        put(buffer);
        return true;
    }

    /** The number of buffers, and so the number of sequence numbers that the message takes. */
    int size() {
        return buffers.size();
    }

    boolean isData() {
        return buffers.get(0).isBuffer();
    }

    DataType type() {
        return buffers.get(0).getDataType();
    }

    /** The message as a buffer of Flink. Recycling it recycles all buffers. */
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
