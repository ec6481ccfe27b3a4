package dev.faro.storage;

import dev.faro.FileRole;
import java.io.IOException;
import java.util.Optional;

/**
 * Where a writer's files go: one destination is for one output. {@link MemoryDestination} is an implementation; an
 * engine can add its own, and test it with {@link DestinationCheck}. Local files need none:
 * {@link dev.faro.writer.Writer#create} writes them.
 *
 * <pre>{@code
 * try (Writer writer = Writer.createIn(store.destination("orders"), new WriterOptions(64))) {
 *     writer.write(7, record);
 *     writer.finish();
 * }
 * }</pre>
 */
public interface Destination {
    /**
     * Makes the file of a role: data and index, in this order, or single. A writer that needs the file calls
     * {@link #create(FileRole, boolean)}, which calls this one unless it is overridden; with {@link dev.faro.writer.WriterOptions#singleBelow} that is when the layout is decided. Where names have
     * endings, the files are NAME.data and NAME.index, or NAME.faro.
     *
     * @throws java.nio.file.FileAlreadyExistsException if the name exists; the implementation may leave that to
     *     {@link NewFile#publish}
     * @throws IOException if the storage fails
     */
    NewFile create(FileRole role) throws IOException;

    /**
     * Makes the file of a role, as {@link #create(FileRole)} does. This is what a writer calls, with what it will pass to
     * {@link NewFile#publish}. A storage that has to know that from the beginning overrides this; a destination that
     * passes calls on to another one has to pass on this one too.
     *
     * @param replace whether the file may replace one that exists; then an existing name is not refused here
     * @throws IOException as {@link #create(FileRole)}
     */
    default NewFile create(FileRole role, boolean replace) throws IOException {
        return create(role);
    }

    /**
     * The name, for people, of a file that exists already under the name of a role; empty if there is none. Without
     * {@link dev.faro.writer.WriterOptions#overwrite}, the writer asks before it writes, so that it does not write in
     * vain (WRT-4). This one does not know, and leaves it to {@link NewFile#publish}.
     *
     * @throws IOException if the storage fails
     */
    default Optional<String> taken(FileRole role) throws IOException {
        return Optional.empty();
    }
}
