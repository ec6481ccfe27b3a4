package dev.faro.hadoop;

import dev.faro.storage.NewFile;
import dev.faro.storage.StoredFile;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.util.Arrays;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * An object of a store that is sent while it is written, and gets its name when it is complete: without replacing, only
 * if the name is free.
 */
final class HadoopNewObject implements NewFile {
    /** The capability, and the option of S3A: put if absent. Hadoop 3.3 does not have the constant. */
    static final String CONDITIONAL = "fs.option.create.conditional.overwrite";
    /** The capability of streams that can be given up; closing another one would publish the object. */
    static final String ABORTABLE = "fs.capability.outputstream.abortable";
    /** The object's metadata that says who wrote it, as it is set and as it is read. */
    private static final String SET_WRITER = "fs.s3a.create.header.faro-writer";
    private static final String GET_WRITER = "header.faro-writer";
    private static final int COPY = 64 << 10;
    /** How often an object is looked for after a failure: a request that timed out may still be under way. */
    private static final int LOOKS = 4;

    private final FileSystem fileSystem;
    private final Path path;
    private final boolean replace;
    private final byte[] writer = UUID.randomUUID().toString().getBytes(StandardCharsets.US_ASCII);
    private final FSDataOutputStream out;
    private final byte[] copy = new byte[COPY];
    private State state = State.OPEN;

    private enum State {
        OPEN,
        /** The last request was sent, so the object may exist. */
        SENT,
        PUBLISHED,
        /** Published and closed. */
        CLOSED,
        GIVEN_UP
    }

    private interface Requests<T> {
        T send() throws IOException;
    }

    /** Begins an object; the file system has the two capabilities. */
    HadoopNewObject(FileSystem fileSystem, Path path, boolean replace) throws IOException {
        this.fileSystem = fileSystem;
        this.path = path;
        this.replace = replace;
        FSDataOutputStreamBuilder<?, ?> builder = fileSystem.createFile(path).overwrite(replace);
        builder.must(SET_WRITER, new String(writer, StandardCharsets.US_ASCII));
        if (!replace) {
            builder.must(CONDITIONAL, true);
        }
        try {
            this.out = builder.build();
        } catch (IllegalArgumentException e) {
            throw new IOException("a file system without what an object needs: " + path, e);
        }
    }

    @Override
    public String name() {
        return path.toString();
    }

    private void checkOpen() throws IOException {
        if (state != State.OPEN) {
            throw new IOException(path + " is closed or published");
        }
    }

    @Override
    public void append(ByteBuffer bytes) throws IOException {
        checkOpen();
        try {
            while (bytes.hasRemaining()) {
                int count = Math.min(COPY, bytes.remaining());
                bytes.get(copy, 0, count);
                out.write(copy, 0, count);
            }
        } catch (IOException e) {
            keepInterrupt(e);
            throw e;
        }
    }

    /** Nothing to do: an object becomes durable when it is published. */
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
        state = State.SENT;
        try {
            out.close();
        } catch (IOException e) {
            keepInterrupt(e);
            checkWhetherPublished(e);
        } catch (RuntimeException e) {
            checkWhetherPublished(new IOException("publishing " + path, e));
        }
        state = State.PUBLISHED;
    }

    /**
     * Returns if the object is this one: a request whose answer was lost is repeated, and refused then because of the
     * first. Otherwise throws the failure, or that the name exists.
     */
    private void checkWhetherPublished(IOException failure) throws IOException {
        byte[] found;
        try {
            found = uninterrupted(this::lookForWriter);
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

    /** As {@link #writerOfObject}, some times if there is no object. */
    private byte[] lookForWriter() throws IOException {
        byte[] found = writerOfObject();
        for (int look = 1; found == null && look < LOOKS; look++) {
            try {
                TimeUnit.MILLISECONDS.sleep(100L << look);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return null;
            }
            found = writerOfObject();
        }
        return found;
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

    /** Sends requests also in a thread that is interrupted, in which the client refuses them; it stays interrupted. */
    private static <T> T uninterrupted(Requests<T> requests) throws IOException {
        boolean interrupted = Thread.interrupted();
        try {
            return requests.send();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Hadoop's streams take an interrupt for their own, and throw this. */
    private static void keepInterrupt(IOException e) {
        if (e instanceof InterruptedIOException && !(e instanceof SocketTimeoutException)) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void remove() throws IOException {
        if (state == State.OPEN) {
            state = State.GIVEN_UP;
            uninterrupted(this::abort);
        } else if (state != State.GIVEN_UP) {
            // Also after a publish that failed and may have been done nevertheless.
            uninterrupted(this::deleteOwn);
            state = State.GIVEN_UP;
        }
    }

    private boolean abort() throws IOException {
        IOException failure = out.abort().anyCleanupException();
        if (failure != null && !(failure instanceof FileNotFoundException)) {
            throw new IOException(
                    "parts of " + path + " may be left, which a lifecycle rule of the bucket removes", failure);
        }
        return true;
    }

    private boolean deleteOwn() throws IOException {
        return Arrays.equals(writerOfObject(), writer) && fileSystem.delete(path, false);
    }

    @Override
    public StoredFile open() throws IOException {
        if (state == State.PUBLISHED) {
            // First: what replaces the object later has another ETag.
            FileStatus status = fileSystem.getFileStatus(path);
            if (Arrays.equals(writerOfObject(), writer)) {
                return new HadoopFile(fileSystem, status);
            }
        }
        throw new IOException(path + " was not published, or was replaced");
    }

    @Override
    public void close() throws IOException {
        if (state == State.PUBLISHED || state == State.CLOSED) {
            state = State.CLOSED;
        } else {
            remove();
        }
    }
}
