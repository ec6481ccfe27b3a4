package dev.faro.hadoop;

import dev.faro.storage.NewFile;
import dev.faro.storage.StoredFile;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.util.Arrays;
import java.util.UUID;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * An object of a store that is sent while it is written, and gets its name when it is complete: without replacing, only
 * if the name is free.
 */
final class HadoopNewObject implements NewFile {
    /** The capability, and the option of S3A: put if absent. Hadoop 3.3 does not have the constant. */
    static final String CONDITIONAL = "fs.option.create.conditional.overwrite";
    private static final String ABORTABLE = "fs.capability.outputstream.abortable";
    /** The object's metadata that says who wrote it, as it is set and as it is read. */
    private static final String SET_WRITER = "fs.s3a.create.header.faro-writer";
    private static final String GET_WRITER = "header.faro-writer";
    private static final int COPY = 64 << 10;

    private final FileSystem fileSystem;
    private final Path path;
    private final boolean replace;
    private final byte[] writer = UUID.randomUUID().toString().getBytes(StandardCharsets.US_ASCII);
    private final FSDataOutputStream out;
    private final byte[] copy = new byte[COPY];
    /** Whether the last request was sent, so that the object may exist. */
    private boolean sent;
    private boolean published;
    private boolean closed;

    private HadoopNewObject(FileSystem fileSystem, Path path, boolean replace) throws IOException {
        this.fileSystem = fileSystem;
        this.path = path;
        this.replace = replace;
        FSDataOutputStreamBuilder<?, ?> builder = fileSystem.createFile(path).overwrite(replace);
        builder.opt(SET_WRITER, new String(writer, StandardCharsets.US_ASCII));
        if (!replace) {
            builder.must(CONDITIONAL, true);
        }
        this.out = builder.build();
    }

    static HadoopNewObject create(FileSystem fileSystem, Path path, boolean replace) throws IOException {
        HadoopNewObject made = new HadoopNewObject(fileSystem, path, replace);
        if (!made.out.hasCapability(ABORTABLE)) {
            // Closing the stream would publish what was given up.
            throw new IOException("a file system whose streams cannot be given up: " + path);
        }
        return made;
    }

    @Override
    public String name() {
        return path.toString();
    }

    private void checkOpen() throws IOException {
        if (closed || sent) {
            throw new IOException(path + " is closed or published");
        }
    }

    @Override
    public void append(ByteBuffer bytes) throws IOException {
        checkOpen();
        while (bytes.hasRemaining()) {
            int count = Math.min(COPY, bytes.remaining());
            bytes.get(copy, 0, count);
            out.write(copy, 0, count);
        }
    }

    /** A store keeps nothing of an object that is not complete, and all of one that is. */
    @Override
    public void sync() throws IOException {
        checkOpen();
    }

    @Override
    public void publish(boolean replacing) throws IOException {
        checkOpen();
        if (replacing != replace) {
            throw new IOException(path + " was made " + (replace ? "to replace" : "not to replace") + " an object");
        }
        sent = true;
        try {
            out.close();
        } catch (IOException e) {
            publishedNevertheless(e);
        }
        published = true;
    }

    /** A request whose answer was lost is repeated, and refused then because of the first. */
    private void publishedNevertheless(IOException failure) throws IOException {
        byte[] found;
        try {
            found = writerOfObject();
        } catch (IOException e) {
            failure.addSuppressed(e);
            throw failure;
        }
        if (Arrays.equals(found, writer)) {
            return;
        }
        if (found == null || replace) {
            throw failure;
        }
        FileAlreadyExistsException exists = new FileAlreadyExistsException(path.toString());
        exists.initCause(failure);
        throw exists;
    }

    /** Who wrote the object that has the name: empty if it does not say so, null if there is none. */
    private byte[] writerOfObject() throws IOException {
        try {
            byte[] found = fileSystem.getXAttrs(path).get(GET_WRITER);
            return found == null ? new byte[0] : found;
        } catch (FileNotFoundException e) {
            return null;
        }
    }

    @Override
    public void remove() throws IOException {
        closed = true;
        if (!sent) {
            sent = true;
            out.abort();
            return;
        }
        // Also after a publish that failed and may have been done nevertheless.
        if (Arrays.equals(writerOfObject(), writer)) {
            fileSystem.delete(path, false);
        }
        published = false;
    }

    @Override
    public StoredFile open() throws IOException {
        if (!published || !Arrays.equals(writerOfObject(), writer)) {
            throw new IOException(path + " was not published, or was replaced");
        }
        return new HadoopFile(fileSystem, fileSystem.getFileStatus(path));
    }

    @Override
    public void close() throws IOException {
        if (!closed && !published) {
            remove();
        }
        closed = true;
    }
}
