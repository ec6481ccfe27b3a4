package dev.faro.storage;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/**
 * A finished file that is read by position, wherever its bytes are. {@link LocalFile} and {@link MemoryFile} are
 * implementations; an engine can add its own, and test it with {@link StoredFileCheck}.
 *
 * <p>The bytes are those of the file that was opened. If its content can be replaced under the same name, the
 * implementation notices it and throws an exception. Several threads may use the file at the same time. A read that is
 * in progress while the file is closed, or that begins afterwards, may fail.
 */
public interface StoredFile extends Closeable {
    /**
     * The size in bytes. It does not change.
     *
     * @throws IOException if the storage fails
     */
    long size() throws IOException;

    /**
     * Reads bytes at an offset into the buffer, from its position on, and moves the position to their end. The call may
     * read fewer bytes than the buffer has room for, but at least one if there is room and the offset is below the
     * size. It changes nothing else of the buffer, and nothing that another read depends on. The buffer may be direct.
     *
     * @param offset 0 or more; it may be beyond the end of the file
     * @return the number of bytes; -1 at or after the end of the file. If the buffer has no room, 0,
     *     or also -1 at or after the end
     * @throws IOException if the storage fails. If it fails because the thread was interrupted, the exception is a
     *     {@link java.io.InterruptedIOException}, the thread stays interrupted, and other threads can continue to read
     */
    int read(long offset, ByteBuffer target) throws IOException;

    /**
     * Reads several ranges. Each buffer gets all bytes that it has room for, or those up to the end of the file. Ranges
     * may be empty, may overlap, and are in any order; their buffers do not overlap. The call does not change the list.
     *
     * <p>The default reads one after another. An implementation may read them at the same time, or join neighbours.
     *
     * @throws IOException if the storage fails. The buffers may have a part of their bytes then, up to their positions
     */
    default void readRanges(List<RangeRead> ranges) throws IOException {
        for (RangeRead range : ranges) {
            while (range.target().hasRemaining()) {
                int count = read(range.next(), range.target());
                if (count < 0) {
                    break;
                }
                if (count == 0) {
                    throw new IOException("reading returns neither bytes nor the end of the file");
                }
            }
        }
    }

    /**
     * How many neighbouring bytes are worth one request: a reader asks for about as many at once, if it wants them all.
     * By default 4 MiB. Values below 4 KiB or above 64 MiB are taken as these.
     */
    default int readBytes() {
        return 4 << 20;
    }

    /**
     * What distinguishes this content from other contents of the same name, such as an entity tag: two files with the
     * same name and the same version have the same bytes. Empty if the storage has no such thing.
     */
    default Optional<String> version() {
        return Optional.empty();
    }

    /** The name for people, which errors show. It need not be a path. */
    String name();

    /**
     * Closes the file. Closing it twice is not an error.
     *
     * @throws IOException if the storage fails
     */
    @Override
    void close() throws IOException;
}
