package dev.faro.hadoop;

import dev.faro.storage.RangeRead;
import dev.faro.storage.StoredFile;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.hadoop.fs.ChecksumFileSystem;
import org.apache.hadoop.fs.EtagSource;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSError;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.StreamCapabilities;

/**
 * A finished file of a Hadoop file system. It is opened at its first use, with one request for its status and one
 * stream, which all reads share. Several ranges are one vectored read, if the stream has these and the
 * file is not local. Safe to share between threads.
 *
 * <pre>{@code
 * StoredOutput output = StoredOutput.paired(new HadoopFile(fs, data), new HadoopFile(fs, index));
 * try (Reader reader = Reader.openStored(output, ReaderOptions.DEFAULT)) {
 *     ...
 * }
 * }</pre>
 *
 * <p>A file that is replaced while it is read is noticed by its stream: HDFS compares the list of blocks, S3A and ABFS
 * the entity tag, and a stream of a local file stays with the file that it opened. The file system of a local file, and
 * each {@link ChecksumFileSystem}, is read without its own checksums: Faro's cover every byte.
 */
public final class HadoopFile implements StoredFile {
    /** How much neighbouring data is worth one request, in bytes. */
    private static final int READ_BYTES = 8 << 20;
    /** The option of {@link FileSystem#openFile} that says how the file is read. */
    private static final String READ_POLICY = "fs.option.openfile.read.policy";

    private final FileSystem fileSystem;
    private final Path path;
    private FileStatus status;
    private volatile Stream stream;
    private boolean wasOpen;
    private boolean closed;

    /**
     * An open stream.
     *
     * @param vectored whether it reads several ranges at once
     * @param buffers whether it reads into buffers that are not arrays
     */
    private record Stream(FSDataInputStream in, boolean vectored, boolean buffers) {}

    private interface Call<T> {
        T on(Stream open) throws IOException;
    }

    /** Names a file, which is opened at its first use. Closing it does not close the file system. */
    public HadoopFile(FileSystem fileSystem, Path path) {
        this.fileSystem = raw(Objects.requireNonNull(fileSystem, "fileSystem"));
        this.path = Objects.requireNonNull(path, "path");
    }

    /** The same for a file with a known status, for example from a listing. It saves the request for the status. */
    public HadoopFile(FileSystem fileSystem, FileStatus status) {
        this(fileSystem, Objects.requireNonNull(status, "status").getPath());
        this.status = status;
    }

    private static FileSystem raw(FileSystem fileSystem) {
        return fileSystem instanceof ChecksumFileSystem checked ? checked.getRawFileSystem() : fileSystem;
    }

    /** The path of the file. */
    public Path path() {
        return path;
    }

    /** The status of the file when it was first used. */
    private synchronized FileStatus status() throws IOException {
        if (status == null) {
            checkNotInterrupted();
            status = fileSystem.getFileStatus(path);
        }
        // For the local file system each thing that is not a folder is a file. Opening a pipe would wait for its writer.
        boolean special = fileSystem instanceof RawLocalFileSystem local && !local.pathToFile(path).isFile();
        if (!status.isFile() || special) {
            throw new IOException("not a regular file");
        }
        return status;
    }

    private synchronized Stream stream() throws IOException {
        if (closed) {
            throw new IOException("the file is closed");
        }
        if (stream == null) {
            checkNotInterrupted();
            if (wasOpen && !versionOf(fileSystem.getFileStatus(path)).equals(versionOf(status()))) {
                throw new FileNotFoundException(
                        "an interrupt closed the file, and its name now belongs to another one");
            }
            FSDataInputStream in = await(fileSystem.openFile(path).withFileStatus(status())
                    .opt(READ_POLICY, "vector, random").build());
            // A vectored read of a local file opens it by name, where another file may be by now.
            boolean local = "file".equals(fileSystem.getUri().getScheme());
            stream = new Stream(in, !local && in.hasCapability(StreamCapabilities.VECTOREDIO),
                    in.hasCapability(StreamCapabilities.PREADBYTEBUFFER));
            wasOpen = true;
        }
        return stream;
    }

    /** Calls a stream. If another thread's interrupt closed it, it is opened again, if the file is still the same. */
    private <T> T lasting(Call<T> call) throws IOException {
        while (true) {
            checkNotInterrupted();
            Stream open = stream;
            if (open == null) {
                open = stream();
            }
            try {
                return call.on(open);
            } catch (ClosedChannelException e) {
                replace(open, e);
            } catch (FSError e) {
                // What local files make of an IOException.
                if (!(e.getCause() instanceof ClosedChannelException why)) {
                    throw new IOException(e.getCause());
                }
                replace(open, why);
            } catch (RuntimeException e) {
                // Streams that were closed meanwhile fail in ways of their own.
                if (open == stream) {
                    throw new IOException(e);
                }
            }
        }
    }

    private synchronized void replace(Stream gone, ClosedChannelException why) throws IOException {
        if (closed) {
            throw why;
        }
        if (stream == gone) {
            stream = null;
            gone.in.close();
        }
        if (Thread.currentThread().isInterrupted()) {
            throw interrupted(why);
        }
    }

    private static void checkNotInterrupted() throws InterruptedIOException {
        // In an interrupted thread, a call could close a channel that others use.
        if (Thread.currentThread().isInterrupted()) {
            throw interrupted(null);
        }
    }

    private static InterruptedIOException interrupted(Throwable cause) {
        InterruptedIOException e = new InterruptedIOException("the thread was interrupted");
        e.initCause(cause);
        return e;
    }

    static <T> T await(CompletableFuture<T> future) throws IOException {
        try {
            return future.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw interrupted(e);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            if (cause instanceof IOException io) {
                throw io;
            }
            throw new IOException(cause);
        }
    }

    @Override
    public long size() throws IOException {
        return status().getLen();
    }

    /** The entity tag, if the file system has these; otherwise the size and the time of the last change. */
    @Override
    public Optional<String> version() {
        try {
            return Optional.of(versionOf(status()));
        } catch (IOException e) {
            // The first read reports it.
            return Optional.empty();
        }
    }

    private static String versionOf(FileStatus status) {
        String etag = status instanceof EtagSource source ? source.getEtag() : null;
        return etag != null && !etag.isEmpty() ? etag : status.getLen() + "-" + status.getModificationTime();
    }

    @Override
    public int readBytes() {
        return READ_BYTES;
    }

    @Override
    public int read(long offset, ByteBuffer target) throws IOException {
        if (!target.hasRemaining()) {
            return 0;
        }
        if (offset < 0) {
            throw new IllegalArgumentException("offset " + offset);
        }
        long left = size() - offset;
        if (left <= 0) {
            return -1;
        }
        int count = (int) Math.min(left, Math.min(target.remaining(), READ_BYTES));
        int read = lasting(open -> read(open, offset, target, count));
        if (read < 0) {
            throw new EOFException("the file ends before its size of " + size() + " bytes");
        }
        return read;
    }

    private static int read(Stream open, long offset, ByteBuffer target, int count) throws IOException {
        int at = target.position();
        int read;
        if (target.hasArray()) {
            read = open.in.read(offset, target.array(), target.arrayOffset() + at, count);
        } else if (open.buffers) {
            read = open.in.read(offset, target.duplicate().limit(at + count));
        } else {
            byte[] bytes = new byte[count];
            read = open.in.read(offset, bytes, 0, count);
            target.put(bytes, 0, Math.max(0, read));
        }
        target.position(at + Math.max(0, read));
        return read;
    }

    @Override
    public void readRanges(List<RangeRead> ranges) throws IOException {
        if (ranges.size() > 1) {
            long size = size();
            lasting(open -> open.vectored && new VectoredReads(ranges, size).read(open.in));
        }
        // Those that overlap others, and all of them without vectored reads.
        StoredFile.super.readRanges(ranges);
    }

    @Override
    public String name() {
        return path.toString();
    }

    @Override
    public synchronized void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        if (stream != null) {
            FSDataInputStream open = stream.in;
            stream = null;
            open.close();
        }
    }
}
