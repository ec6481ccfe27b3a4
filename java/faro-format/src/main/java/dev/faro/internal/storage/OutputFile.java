package dev.faro.internal.storage;

import dev.faro.FaroException;
import dev.faro.FileRole;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A file to append to, wherever it is. A buffer collects what callers write. Not for several threads.
 *
 * <p>A caller reserves space with {@link #reserve}, fills the buffer from the returned index on, and calls
 * {@link #advance} with the number of bytes to keep.
 */
public abstract class OutputFile implements Closeable {
    /**
     * Writes of blocks end at multiples of this many bytes, except those of {@link #flush}. Smaller writes cost the
     * system more for each byte (benchmark write, 64 partitions, 16 MiB: with 64 KiB the writer is 8 % slower); larger
     * ones gain nothing.
     */
    protected static final int PIECE = 256 << 10;
    /** Room for a block of the default size, stored by any codec, in bytes. */
    private static final int BLOCK = 68 << 10;
    /** The size of the buffer in bytes: a piece, and the block that exceeds it. */
    private static final int BUFFER = PIECE + BLOCK;
    /** The next size of the buffer after small ones, in bytes: a block, and what is before it. */
    private static final int NEXT_BUFFER = BLOCK + (12 << 10);
    /**
     * The first size of the buffer, because many outputs are tiny; and its size for an index file, where every message
     * is written at once.
     */
    private static final int SMALL_BUFFER = 1 << 12;
    /** The size of the buffers of an output's files, in bytes. The first one is still there while the next is filled. */
    public static final int BUFFERS = NEXT_BUFFER + BUFFER + SMALL_BUFFER;
    /** The maximum number of bytes that are held back, see {@link #holdBack}. */
    private static final int MAX_HELD = 1 << 30;

    private static final ByteBuffer NO_BYTES = allocate(0);

    private final FileRole role;
    private final int bufferSize;
    /** The size in bytes up to which a larger buffer stays for the next blocks or messages. */
    private final int mostKept;
    private ByteBuffer buffer;
    private int used;
    private long written;
    private boolean held;
    private long writeNanos;
    private long syncNanos;

    /** Appends to a file that has {@code written} bytes already. */
    protected OutputFile(FileRole role, ByteBuffer buffer, long written) {
        this.role = role;
        this.bufferSize = role == FileRole.INDEX ? SMALL_BUFFER : BUFFER;
        this.mostKept = 4 * (role == FileRole.INDEX ? SMALL_BUFFER : PIECE);
        this.written = written;
        this.buffer = buffer;
    }

    /** The first buffer of a file. It comes before a new file, because memory may be short. */
    protected static ByteBuffer firstBuffer() {
        return allocate(SMALL_BUFFER);
    }

    private static ByteBuffer allocate(int size) {
        return ByteBuffer.allocateDirect(size).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** The role of the file in its output. */
    public final FileRole role() {
        return role;
    }

    /** Whether the buffer has room for this many bytes as it is. Then {@link #reserve} writes nothing. */
    public final boolean hasRoom(long size) {
        return size <= buffer.capacity() - used;
    }

    /** The offset of the next byte, after all bytes so far, written or not. */
    public final long position() {
        return written + used;
    }

    /** The number of bytes that were written to the file. */
    public final long written() {
        return written;
    }

    /** The time for writing in nanoseconds. */
    public final long writeNanos() {
        return writeNanos;
    }

    /** The time for syncing in nanoseconds. */
    public final long syncNanos() {
        return syncNanos;
    }

    /** The buffer to fill; {@link #reserve} may replace it. Direct, little-endian. */
    public final ByteBuffer buffer() {
        return buffer;
    }

    /**
     * Reserves space in the buffer.
     *
     * @return the index in {@link #buffer} where the {@code size} bytes begin
     * @throws FaroException {@code io}
     */
    public final int reserve(int size) throws FaroException {
        if (size <= buffer.capacity() - used) {
            return used;
        }
        long wanted = (long) used + size;
        if (wanted <= bufferSize) {
            grow(wanted <= NEXT_BUFFER ? Math.min(NEXT_BUFFER, doubled((int) wanted)) : bufferSize);
            return used;
        }
        if (held && wanted > MAX_HELD && !canCut()) {
            throw FaroException.limitExceeded("a region of at most " + MAX_HELD + " bytes in a storage", wanted);
        }
        if (held && wanted <= MAX_HELD) {
            grow((int) Math.min(MAX_HELD, Math.max(wanted, 2L * buffer.capacity())));
            return used;
        }
        if (role == FileRole.INDEX) {
            write(used);
            used = 0;
        } else {
            writePieces();
        }
        if (size > buffer.capacity() - used) {
            grow(Math.addExact(size, role == FileRole.INDEX ? 0 : PIECE));
        }
        return used;
    }

    /** Writes up to the last boundary between pieces, and keeps the rest. */
    private void writePieces() throws FaroException {
        int whole = (int) ((written + used & -PIECE) - written);
        if (whole > 0) {
            int rest = used - whole;
            write(whole);
            buffer.put(0, buffer, whole, rest);
            used = rest;
        }
    }

    /** The next power of two. Thousands of open files, in each of which little waits, take at most twice as much. */
    private static int doubled(int size) {
        return Integer.highestOneBit(Math.max(1, size - 1)) << 1;
    }

    private void grow(int capacity) {
        ByteBuffer larger = allocate(capacity);
        larger.put(0, buffer, 0, used);
        buffer = larger;
    }

    /** Appends the next {@code size} bytes of the buffer. */
    public final void advance(int size) {
        used += size;
    }

    /**
     * Whether to keep all bytes in memory until {@link #flush}: readers that follow the file do not see them, and
     * {@link #rewind} removes them from any file. If there is more than a gigabyte, the rest is written nevertheless,
     * or refused if the file cannot be cut.
     */
    public final void holdBack(boolean hold) {
        held = hold;
    }

    /**
     * Writes the appended bytes.
     *
     * @throws FaroException {@code io}
     */
    public final void flush() throws FaroException {
        write(used);
        used = 0;
        if (buffer.capacity() > mostKept) {
            buffer = firstBuffer();
        }
    }

    private void write(int count) throws FaroException {
        if (count == 0) {
            return;
        }
        long before = System.nanoTime();
        try {
            write(buffer.duplicate().position(0).limit(count), written);
            written += count;
        } catch (IOException e) {
            throw failed("to write " + count + " bytes at " + written, e);
        } finally {
            writeNanos += System.nanoTime() - before;
        }
    }

    /** Writes all bytes of a buffer, from its position to its limit, at an offset: the end of the file. */
    protected abstract void write(ByteBuffer source, long offset) throws IOException;

    /** Whether bytes that were written can be removed. */
    public abstract boolean canCut();

    /** Cuts the file, if {@link #canCut}. */
    protected abstract void truncate(long size) throws IOException;

    /** Syncs the file to the device. */
    protected abstract void force() throws IOException;

    /** Closes the file. */
    protected abstract void closeFile() throws IOException;

    /** Makes an {@code io} error of this file. */
    public abstract FaroException failed(String wanted, Throwable cause);

    /**
     * Removes everything from an offset on.
     *
     * @throws FaroException {@code io}
     */
    public final void rewind(long position) throws FaroException {
        if (position >= written) {
            used = (int) (position - written);
            return;
        }
        try {
            truncate(position);
        } catch (IOException e) {
            throw failed("to cut at " + position, e);
        }
        written = position;
        used = 0;
    }

    /**
     * Takes back everything from an offset on. What is in the file stays there until other bytes take its place, or
     * until {@link #cut}.
     */
    public final void retreat(long position) {
        used = (int) Math.max(0, position - written);
        written = Math.min(written, position);
    }

    /**
     * Writes the appended bytes, and cuts the file after them.
     *
     * @throws FaroException {@code io}
     */
    public final void cut() throws FaroException {
        flush();
        try {
            truncate(written);
        } catch (IOException e) {
            throw failed("to cut at " + written, e);
        }
    }

    /**
     * The whole content, if none of it was written yet and it has at most {@code most} bytes; otherwise null.
     */
    public final ByteBuffer unwritten(int most) {
        return written > 0 || used > most ? null
                : ByteBuffer.allocate(used).put(0, buffer, 0, used).order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * Writes the appended bytes, and syncs them to the device if {@code sync} is true.
     *
     * @throws FaroException {@code io}
     */
    public final void complete(boolean sync) throws FaroException {
        if (sync) {
            sync();
        } else {
            flush();
        }
    }

    /**
     * Writes the appended bytes and syncs the file to the device.
     *
     * @throws FaroException {@code io}
     */
    public final void sync() throws FaroException {
        flush();
        long before = System.nanoTime();
        try {
            force();
        } catch (IOException e) {
            throw failed("to sync", e);
        } finally {
            syncNanos += System.nanoTime() - before;
        }
    }

    /** Drops what was not written. */
    protected final void dropUnwritten() {
        used = 0;
    }

    /** Takes a small buffer in place of a large one, if all is written. */
    public final void shrink() {
        if (used == 0 && buffer.capacity() > SMALL_BUFFER) {
            buffer = firstBuffer();
        }
    }

    /** Drops what was not written, and the buffer. The file is not written after that. */
    protected final void releaseBuffer() {
        buffer = NO_BYTES;
        used = 0;
    }

    /** Closes the file for good. Bytes that were not flushed are lost. */
    @Override
    public final void close() throws FaroException {
        releaseBuffer();
        try {
            closeFile();
        } catch (IOException e) {
            throw failed("to close", e);
        }
    }
}
