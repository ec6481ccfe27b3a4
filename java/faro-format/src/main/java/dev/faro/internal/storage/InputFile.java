package dev.faro.internal.storage;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileRole;
import dev.faro.internal.bytes.Faults;
import dev.faro.internal.bytes.HeaderBytes;
import dev.faro.internal.bytes.Tail;
import dev.faro.storage.LocalFile;
import dev.faro.storage.RangeRead;
import dev.faro.storage.StoredFile;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;

/**
 * A stored file with a role in its output, which makes the errors of both. Safe to share between threads.
 *
 * <p>A thread that is interrupted before or during a call gets {@code io} with an
 * {@link java.io.InterruptedIOException} as cause, and stays interrupted. Other threads continue to read.
 */
public final class InputFile implements Closeable, Faults {
    private static final int LEAST_READ = 4 << 10;
    private static final int MOST_READ = 64 << 20;
    private static final int LOCAL_AHEAD = 256 << 10;
    private static final int LOCAL_WINDOW = 768 << 10;

    private final FileRole role;
    private final StoredFile stored;
    private final ReadCounts counts = new ReadCounts();

    /** Reads from a file that is open. Closing the result closes the file. */
    public InputFile(FileRole role, StoredFile stored) {
        this.role = role;
        this.stored = stored;
    }

    /**
     * Opens a local file for reading.
     *
     * @throws FaroException {@code io} if it is missing or unreadable (OPN-4)
     */
    public static InputFile open(FileRole role, Path path) throws FaroException {
        try {
            return new InputFile(role, LocalFile.open(path));
        } catch (IOException e) {
            throw FaroException.io(role, path, "a readable file", e);
        }
    }

    /**
     * Reads and checks the header (HDR-1).
     *
     * @throws FaroException the first check that fails, or {@code io}
     */
    public FileHeader readHeader() throws FaroException {
        int size = (int) Math.min(size(), FileHeader.SIZE);
        ByteBuffer bytes = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
        readFully(bytes, 0);
        return HeaderBytes.parse(bytes.clear(), this);
    }

    /**
     * Reads the tail at the end of the file: checks 1 and 2 of OPN-2.
     *
     * @param size the size of the file
     * @throws FaroException {@code unfinished}, {@code checksum} or {@code io}
     */
    public Tail readTailAtEnd(long size) throws FaroException {
        if (size < FileHeader.SIZE + Tail.SIZE) {
            throw fault(ErrorCode.UNFINISHED, size, "a tail", "the end of the file");
        }
        ByteBuffer bytes = tailBytes(size - Tail.SIZE);
        if (!Tail.hasMagic(bytes)) {
            throw fault(ErrorCode.UNFINISHED, size, "a tail", "other bytes");
        }
        return Tail.parse(bytes, size - Tail.SIZE, this);
    }

    /**
     * Reads the 24 bytes after a footer, which must be a tail (FOL-5).
     *
     * @throws FaroException {@code checksum} or {@code io}
     */
    public Tail readTail(long offset) throws FaroException {
        return Tail.parse(tailBytes(offset), offset, this);
    }

    private ByteBuffer tailBytes(long offset) throws FaroException {
        ByteBuffer bytes = ByteBuffer.allocate(Tail.SIZE).order(ByteOrder.LITTLE_ENDIAN);
        readFully(bytes, offset);
        return bytes.clear();
    }

    /** The role of the file in its output. */
    public FileRole role() {
        return role;
    }

    /** The path of a local file; null if the file is another one. */
    public Path path() {
        return stored instanceof LocalFile local ? local.path() : null;
    }

    /** The name of the file: the path of a local one. */
    public String name() {
        return stored.name();
    }

    /** The file, if its bytes are brought by the caller; otherwise null. */
    public BroughtFile brought() {
        return stored instanceof BroughtFile file ? file : null;
    }

    /**
     * The current size in bytes.
     *
     * @throws FaroException {@code io}
     */
    public long size() throws FaroException {
        try {
            return stored.size();
        } catch (IOException e) {
            throw io("the file's size", e);
        }
    }

    /**
     * Fills the rest of a buffer with the bytes at an offset.
     *
     * @throws FaroException {@code io}, or {@code truncated} at the size of the file if it is too short (BLK-8)
     */
    public void readFully(ByteBuffer target, long offset) throws FaroException {
        long at = offset;
        try {
            while (target.hasRemaining()) {
                int position = target.position();
                long begin = System.nanoTime();
                int count = stored.read(at, target);
                counts.add(Math.max(0, count), begin);
                if (count < 0) {
                    long size = stored.size();
                    throw fault(ErrorCode.TRUNCATED, size, "bytes to " + (at + target.remaining()), "end of file");
                }
                if (target.position() == position) {
                    throw new IOException("reading returns neither bytes nor the end of the file");
                }
                at += target.position() - position;
            }
        } catch (FaroException e) {
            throw e;
        } catch (IOException e) {
            throw io("bytes at " + at, e);
        }
    }

    /**
     * Fills the buffers of several ranges with one call of the storage.
     *
     * @throws FaroException as {@link #readFully}, for the first range that fails
     */
    public void readRanges(List<RangeRead> ranges) throws FaroException {
        long before = positions(ranges);
        long begin = System.nanoTime();
        try {
            stored.readRanges(ranges);
            counts.add(positions(ranges) - before, begin);
        } catch (IOException e) {
            long at = 0;
            for (int i = 0; i < ranges.size(); i++) {
                at = ranges.get(i).next();
                if (ranges.get(i).target().hasRemaining()) {
                    break;
                }
            }
            throw io("bytes at " + at, e);
        }
        for (RangeRead range : ranges) {
            // A range that is not full is at the end of the file, which another read shows.
            readFully(range.target(), range.next());
        }
    }

    private static long positions(List<RangeRead> ranges) {
        long sum = 0;
        for (RangeRead range : ranges) {
            sum += range.target().position();
        }
        return sum;
    }

    /** How many neighbouring bytes are worth one request. */
    public int readBytes() {
        return Math.max(LEAST_READ, Math.min(stored.readBytes(), MOST_READ));
    }

    /**
     * How many bytes one cursor reads ahead. In a local file the system reads ahead too, and more than this would only
     * take memory.
     */
    public int aheadBytes() {
        return stored instanceof LocalFile ? LOCAL_AHEAD : readBytes();
    }

    /**
     * How many bytes a window of many extents has. All of it is read before its first block is checked. A window of a
     * local file is small enough for the processor's second-level cache, which gains more than longer reads do.
     */
    public int windowBytes() {
        return stored instanceof LocalFile ? LOCAL_WINDOW : readBytes();
    }

    /** The requests so far. */
    public ReadCounts counts() {
        return counts;
    }

    @Override
    public FaroException fault(ErrorCode code, long offset, String expected, Object found) {
        Path path = path();
        return path == null
                ? FaroException.inStorage(code, role, stored.name(), offset, expected, String.valueOf(found))
                : new FaroException(code, role, path, offset, expected, String.valueOf(found), null);
    }

    /** Makes an {@code io} error of this file. */
    public FaroException io(String wanted, Throwable cause) {
        Path path = path();
        return path == null ? FaroException.ioInStorage(role, stored.name(), wanted, cause)
                : FaroException.io(role, path, wanted, cause);
    }

    @Override
    public void close() throws FaroException {
        try {
            stored.close();
        } catch (IOException e) {
            throw io("to close", e);
        }
    }
}
