package dev.faro.storage;

import dev.faro.FileRole;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Keeps an output in memory. A file has at most 2,147,483,639 bytes. Safe to share between threads.
 *
 * <pre>{@code
 * MemoryDestination destination = new MemoryDestination("orders");
 * try (Writer writer = Writer.createIn(destination, new WriterOptions(64))) {
 *     writer.write(7, record);
 *     writer.finish();
 * }
 * Reader reader = Reader.openStored(destination.output(), ReaderOptions.DEFAULT);
 * }</pre>
 */
public final class MemoryDestination implements Destination {
    /** The largest array that every JVM makes. */
    private static final int MOST = Integer.MAX_VALUE - 8;

    private final String name;
    private final Map<FileRole, Published> files = new EnumMap<>(FileRole.class);

    /** A published file, and the object that made it. */
    private record Published(MemoryNewFile from, MemoryFile file) {}

    /** Makes an empty destination with a NAME for people. */
    public MemoryDestination(String name) {
        this.name = Objects.requireNonNull(name, "name");
    }

    @Override
    public NewFile create(FileRole role) {
        return new MemoryNewFile(Objects.requireNonNull(role, "role"));
    }

    @Override
    public synchronized Optional<String> taken(FileRole role) {
        return Optional.ofNullable(files.get(Objects.requireNonNull(role, "role")))
                .map(published -> published.from.name());
    }

    /** The published file of a role. */
    public synchronized Optional<MemoryFile> find(FileRole role) {
        return Optional.ofNullable(files.get(role)).map(Published::file);
    }

    /**
     * The published output.
     *
     * @throws IllegalStateException if no output was published
     */
    public synchronized StoredOutput output() {
        Optional<MemoryFile> single = find(FileRole.SINGLE);
        if (single.isPresent()) {
            return StoredOutput.single(single.get());
        }
        Optional<MemoryFile> data = find(FileRole.DATA);
        Optional<MemoryFile> index = find(FileRole.INDEX);
        if (data.isEmpty() || index.isEmpty()) {
            throw new IllegalStateException("no output was published in " + name);
        }
        return StoredOutput.paired(data.get(), index.get());
    }

    private synchronized void publish(MemoryNewFile file, boolean replace) throws IOException {
        if (!replace && files.containsKey(file.role)) {
            throw new FileAlreadyExistsException(file.name());
        }
        files.put(file.role, new Published(file, file.toFile()));
    }

    private synchronized MemoryFile published(MemoryNewFile file) throws IOException {
        Published published = files.get(file.role);
        if (published == null || published.from != file) {
            throw new IOException(file.name() + " was not published, or was replaced");
        }
        return published.file;
    }

    private synchronized void remove(MemoryNewFile file) {
        Published published = files.get(file.role);
        if (published != null && published.from == file) {
            files.remove(file.role);
        }
    }

    private final class MemoryNewFile implements NewFile {
        final FileRole role;
        private byte[] bytes = {};
        private int size;
        private boolean published;
        private boolean closed;

        MemoryNewFile(FileRole role) {
            this.role = role;
        }

        @Override
        public String name() {
            return name + switch (role) {
                case DATA -> ".data";
                case INDEX -> ".index";
                case SINGLE -> ".faro";
                case FRAGMENT -> throw new IllegalArgumentException("a fragment is not a file of an output");
            };
        }

        private void checkOpen() throws IOException {
            if (closed || published) {
                throw new IOException(name() + " is closed or published");
            }
        }

        @Override
        public void append(ByteBuffer added) throws IOException {
            checkOpen();
            long wanted = (long) size + added.remaining();
            if (wanted > MOST) {
                throw new IOException("a file in memory has at most " + MOST + " bytes");
            }
            if (wanted > bytes.length) {
                bytes = Arrays.copyOf(bytes, (int) Math.min(MOST, Math.max(wanted, 2L * bytes.length)));
            }
            int count = added.remaining();
            added.get(bytes, size, count);
            size += count;
        }

        @Override
        public void sync() throws IOException {
            checkOpen();
        }

        MemoryFile toFile() {
            return new MemoryFile(name(), ByteBuffer.wrap(bytes, 0, size));
        }

        @Override
        public void publish(boolean replace) throws IOException {
            checkOpen();
            MemoryDestination.this.publish(this, replace);
            published = true;
        }

        @Override
        public void remove() {
            MemoryDestination.this.remove(this);
            bytes = new byte[0];
            size = 0;
            closed = true;
        }

        @Override
        public StoredFile open() throws IOException {
            return published(this);
        }

        @Override
        public void close() {
            if (!published) {
                remove();
            }
            closed = true;
        }
    }
}
