package dev.faro.storage;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A file that a writer makes in a {@link Destination}. No one sees it under its name before {@link #publish}. One
 * thread at a time uses it, not always the same one.
 */
public interface NewFile extends Closeable {
    /** The name for people, which errors show. It need not be a path. */
    String name();

    /**
     * Adds bytes at the end, in the order of the calls: all of them, or it fails. After a failure the writer appends no
     * more. The file keeps no reference to the buffer, which is overwritten after the call.
     *
     * @param bytes from the position to the limit; read-only and direct. The writer does not look at the position
     *     afterwards
     * @throws IOException if the storage fails
     */
    void append(ByteBuffer bytes) throws IOException;

    /**
     * Makes what was appended survive a crash, as far as the storage can promise that. The writer calls it with
     * {@link dev.faro.writer.Durability#COMMIT} only.
     *
     * @throws IOException if the storage fails
     */
    void sync() throws IOException;

    /**
     * Gives the complete file its name, in one step: no one sees a part of it under its name, before or after. When it
     * returns, readers find the file. It is called once at most.
     *
     * @param replace whether a file of that name may be replaced. If not, an existing file is left untouched, and of
     *     several new files that are published under one name, one succeeds
     * @throws java.nio.file.FileAlreadyExistsException if the name exists, and {@code replace} is false
     * @throws IOException if the storage fails
     */
    void publish(boolean replace) throws IOException;

    /**
     * Gives the file up. Before {@link #publish}, nothing stays under the name. After it, the file is removed, if the
     * name still belongs to it, even when this object was closed. Removing it again is not an error.
     *
     * @throws IOException if the storage fails
     */
    void remove() throws IOException;

    /**
     * Opens the published file for a reader, and reads nothing. The result stays valid when this object is closed.
     *
     * @throws IOException if the storage fails
     */
    StoredFile open() throws IOException;

    /**
     * Releases what the object holds. A file that was not published is given up, as {@link #remove} does. Closing it
     * twice is not an error.
     *
     * @throws IOException if the storage fails
     */
    @Override
    void close() throws IOException;
}
