package dev.faro.hadoop;

import dev.faro.storage.RangeRead;
import dev.faro.storage.StoredFile;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/** A file whose last bytes are read with one request, at the first use, and kept: opening needs most of them. */
final class LastBytes implements StoredFile {
    private final StoredFile file;
    private final int most;
    private volatile ByteBuffer last;

    LastBytes(StoredFile file, int most) {
        this.file = file;
        this.most = most;
    }

    private ByteBuffer last() throws IOException {
        ByteBuffer bytes = last;
        if (bytes == null) {
            synchronized (this) {
                bytes = last == null ? read() : last;
                last = bytes;
            }
        }
        return bytes;
    }

    private ByteBuffer read() throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(most, file.size()));
        long start = file.size() - bytes.limit();
        while (bytes.hasRemaining()) {
            if (file.read(start + bytes.position(), bytes) <= 0) {
                throw new EOFException("the file ends before its size of " + file.size() + " bytes");
            }
        }
        return bytes.flip();
    }

    @Override
    public long size() throws IOException {
        return file.size();
    }

    @Override
    public int read(long offset, ByteBuffer target) throws IOException {
        ByteBuffer bytes = last();
        long index = offset - (size() - bytes.limit());
        if (index < 0 || index >= bytes.limit()) {
            return file.read(offset, target);
        }
        int count = (int) Math.min(target.remaining(), bytes.limit() - index);
        target.put(bytes.slice((int) index, count));
        return count;
    }

    /** Ranges are far apart, or wanted to be read at once: of the file, unless all of it is in memory. */
    @Override
    public void readRanges(List<RangeRead> ranges) throws IOException {
        if (last().limit() == size()) {
            StoredFile.super.readRanges(ranges);
        } else {
            file.readRanges(ranges);
        }
    }

    @Override
    public Optional<String> version() {
        return file.version();
    }

    @Override
    public int readBytes() {
        return file.readBytes();
    }

    @Override
    public String name() {
        return file.name();
    }

    @Override
    public void close() throws IOException {
        last = null;
        file.close();
    }
}
