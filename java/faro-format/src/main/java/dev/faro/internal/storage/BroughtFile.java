package dev.faro.internal.storage;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileRole;
import dev.faro.storage.RangeRead;
import dev.faro.storage.StoredFile;
import dev.faro.storage.Wanted;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A file whose bytes the caller brings. A read of other bytes fails with {@link NotBrought}, which names them. Safe to
 * share between threads.
 */
public final class BroughtFile implements StoredFile {
    /** The first wish of an index file: most of them are smaller. */
    private static final int LAST_OF_INDEX = 1 << 20;
    private static final int LAST_OF_SINGLE = 64 << 10;
    /** A wish at the beginning of a file also has the schema, which is usually small. */
    private static final int BEGINNING = 4 << 10;
    private static final long UNKNOWN = -1;

    private final FileRole role;
    private final String name;
    /** What was brought, by offset; pieces do not overlap. */
    private final TreeMap<Long, Piece> pieces = new TreeMap<>();
    private long memory;
    private long size = UNKNOWN;
    private IOException failure;
    private boolean opened;
    private boolean closed;

    /**
     * Bytes that were brought.
     *
     * @param kept whether {@link #forget} leaves them
     */
    private record Piece(byte[] bytes, boolean kept) {}

    /** Makes a file without bytes, of unknown size. */
    public BroughtFile(FileRole role, String name) {
        this.role = role;
        this.name = name;
    }

    /**
     * Copies bytes of the file, as far as they are new.
     *
     * @param offset the offset of the first byte
     * @param fileSize the size of the whole file
     * @throws FaroException {@code invalid-argument} if the bytes are outside the file, or its size was another before
     */
    public synchronized void bring(long offset, ByteBuffer bytes, long fileSize) throws FaroException {
        if (fileSize < 0 || size != UNKNOWN && size != fileSize) {
            throw FaroException.invalidArgument("the size of " + name + (size == UNKNOWN ? "" : ", " + size), fileSize);
        }
        int count = bytes.remaining();
        if (offset < 0 || count > fileSize - offset) {
            throw FaroException.invalidArgument("bytes of a file of " + fileSize + " bytes",
                    count + " bytes at offset " + offset);
        }
        size = fileSize;
        if (closed) {
            return;
        }
        long at = offset;
        long end = offset + count;
        while (at < end) {
            Piece held = pieceAt(at);
            if (held != null) {
                at = pieces.floorKey(at) + held.bytes.length;
                continue;
            }
            Long next = pieces.higherKey(at);
            byte[] copy = new byte[(int) ((next == null ? end : Math.min(end, next)) - at)];
            bytes.get(bytes.position() + (int) (at - offset), copy);
            put(at, new Piece(copy, !opened));
            at += copy.length;
        }
    }

    private void put(long at, Piece piece) {
        pieces.put(at, piece);
        memory += piece.bytes.length;
    }

    /** Makes the next read of bytes that were not brought fail with this error. */
    public synchronized void fail(IOException cause) {
        failure = cause;
    }

    /** Ends the opening: bytes that are brought from now on can be forgotten, and {@link #close} closes the file. */
    public synchronized void opened() {
        opened = true;
    }

    /** Forgets the bytes in [from, to), except those that were brought before {@link #opened}. */
    public synchronized void forget(long from, long to) {
        Map.Entry<Long, Piece> entry = pieces.lowerEntry(to);
        while (entry != null && entry.getKey() + entry.getValue().bytes.length > from) {
            long start = entry.getKey();
            Piece piece = entry.getValue();
            if (!piece.kept) {
                pieces.remove(start);
                memory -= piece.bytes.length;
                putPart(start, piece, start, from);
                putPart(start, piece, to, start + piece.bytes.length);
            }
            entry = pieces.lowerEntry(start);
        }
    }

    private void putPart(long start, Piece piece, long from, long to) {
        if (from < to) {
            put(from, new Piece(Arrays.copyOfRange(piece.bytes, (int) (from - start), (int) (to - start)),
                    false));
        }
    }

    /** The size of what was brought and not forgotten, in bytes. */
    public synchronized long memory() {
        return memory;
    }

    /** Whether all bytes in [from, to) were brought, and not forgotten. */
    public synchronized boolean holds(long from, long to) {
        long at = from;
        while (at < to) {
            Piece held = pieceAt(at);
            if (held == null) {
                return false;
            }
            at = pieces.floorKey(at) + held.bytes.length;
        }
        return true;
    }

    /** A direct copy of bytes, or null unless all of them were brought. */
    public synchronized ByteBuffer copy(long from, long to) {
        if (!holds(from, to)) {
            return null;
        }
        ByteBuffer copy = ByteBuffer.allocateDirect((int) (to - from)).order(ByteOrder.LITTLE_ENDIAN);
        for (long at = from; at < to; at += take(at, pieceAt(at), copy)) {
            // The copy has what the pieces so far have.
        }
        return copy.flip();
    }

    private int take(long at, Piece piece, ByteBuffer target) {
        int index = (int) (at - pieces.floorKey(at));
        int count = Math.min(target.remaining(), piece.bytes.length - index);
        target.put(piece.bytes, index, count);
        return count;
    }

    /** The piece with the byte at an offset, or null. */
    private Piece pieceAt(long offset) {
        Map.Entry<Long, Piece> entry = pieces.floorEntry(offset);
        return entry != null && offset - entry.getKey() < entry.getValue().bytes.length ? entry.getValue() : null;
    }

    /** Makes the exception for bytes that were not brought; or returns that of a failure. */
    private IOException missing(long offset, long length) {
        if (closed) {
            return new IOException("the reader is closed");
        }
        if (failure != null) {
            IOException why = failure;
            failure = null;
            return why;
        }
        return new NotBrought(List.of(size == UNKNOWN ? first() : missingAt(offset, length)));
    }

    private Wanted missingAt(long offset, long length) {
        long end = Math.min(size, offset + length);
        if (!opened && end < BEGINNING) {
            end = Math.min(size, BEGINNING);
        }
        Long next = pieces.higherKey(offset);
        return new Wanted(role, offset, (next == null ? end : Math.min(end, next)) - offset);
    }

    /** What is wanted first of a file of unknown size; null if its size is known. */
    public synchronized Wanted firstWish() {
        return size == UNKNOWN && failure == null ? first() : null;
    }

    private Wanted first() {
        return switch (role) {
            case DATA -> new Wanted(role, 0, FileHeader.SIZE);
            case INDEX -> new Wanted(role, Wanted.FROM_END, LAST_OF_INDEX);
            case SINGLE -> new Wanted(role, Wanted.FROM_END, LAST_OF_SINGLE);
            case FRAGMENT -> throw new IllegalArgumentException("a fragment is not a file of an output");
        };
    }

    @Override
    public synchronized long size() throws IOException {
        if (size == UNKNOWN) {
            throw missing(0, 0);
        }
        return size;
    }

    @Override
    public synchronized int read(long offset, ByteBuffer target) throws IOException {
        if (!target.hasRemaining()) {
            return 0;
        }
        if (size != UNKNOWN && offset >= size) {
            return -1;
        }
        Piece piece = pieceAt(offset);
        if (piece == null) {
            throw missing(offset, target.remaining());
        }
        return take(offset, piece, target);
    }

    /** Names the missing bytes of all ranges at once. */
    @Override
    public void readRanges(List<RangeRead> ranges) throws IOException {
        List<Wanted> wanted = new ArrayList<>();
        for (RangeRead range : ranges) {
            try {
                StoredFile.super.readRanges(List.of(range));
            } catch (NotBrought e) {
                wanted.addAll(NotBrought.wantedBy(e));
            }
        }
        if (!wanted.isEmpty()) {
            throw new NotBrought(wanted);
        }
    }

    @Override
    public String name() {
        return name;
    }

    /** Forgets everything, unless the output is still being opened: an attempt that lacks bytes closes its files. */
    @Override
    public synchronized void close() {
        if (opened) {
            closed = true;
            pieces.clear();
            memory = 0;
        }
    }
}
