package dev.faro.testing;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;

/** A file of a {@link RecordingFileSystem}. */
public final class RecordingChannel extends FileChannel {
    private final RecordingFileSystem system;
    private final Path path;
    private final FileChannel channel;

    public RecordingChannel(RecordingFileSystem system, Path path, FileChannel channel) {
        this.system = system;
        this.path = path;
        this.channel = channel;
    }

    @Override
    public int write(ByteBuffer source, long position) throws IOException {
        boolean admitted = system.isAdmitted("write", path);
        ByteBuffer piece = system.pieces().of(source);
        if (!admitted) {
            // A full disk accepts as much as it can.
            channel.write(piece.limit(piece.position() + piece.remaining() / 2), position);
            throw new IOException("refused");
        }
        int count = 0;
        if (piece.hasRemaining()) {
            try {
                count = channel.write(piece, position);
            } catch (ClosedByInterruptException e) {
                close();
                throw e;
            }
        }
        source.position(source.position() + count);
        return count;
    }

    @Override
    public void force(boolean metadata) throws IOException {
        boolean interrupted = system.isInterruptedAtNext();
        system.admit("sync", path);
        if (interrupted || Thread.currentThread().isInterrupted()) {
            Thread.currentThread().interrupt();
            try {
                channel.force(metadata);
            } catch (ClosedByInterruptException e) {
                close();
                throw e;
            }
        }
    }

    @Override
    public int read(ByteBuffer target, long position) throws IOException {
        system.admitRead();
        system.tell("read");
        ByteBuffer piece = system.pieces().of(target);
        int count = piece.hasRemaining() ? channel.read(piece, position) : 0;
        target.position(target.position() + Math.max(count, 0));
        system.addRead(path, Math.max(count, 0));
        return count;
    }

    @Override
    public long size() throws IOException {
        system.tell("size");
        return channel.size();
    }

    @Override
    protected void implCloseChannel() throws IOException {
        channel.close();
    }

    @Override
    public int read(ByteBuffer target) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long read(ByteBuffer[] targets, int offset, int length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public int write(ByteBuffer source) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long write(ByteBuffer[] sources, int offset, int length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long position() {
        throw new UnsupportedOperationException();
    }

    @Override
    public FileChannel position(long position) {
        throw new UnsupportedOperationException();
    }

    @Override
    public FileChannel truncate(long size) throws IOException {
        system.admit("cut", path);
        channel.truncate(size);
        return this;
    }

    @Override
    public long transferTo(long position, long count, WritableByteChannel target) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long transferFrom(ReadableByteChannel source, long position, long count) {
        throw new UnsupportedOperationException();
    }

    @Override
    public MappedByteBuffer map(MapMode mode, long position, long size) {
        throw new UnsupportedOperationException();
    }

    @Override
    public FileLock lock(long position, long size, boolean shared) {
        throw new UnsupportedOperationException();
    }

    @Override
    public FileLock tryLock(long position, long size, boolean shared) throws IOException {
        if (!system.hasLocks()) {
            throw new UnsupportedOperationException();
        }
        FileLock lock = channel.tryLock(position, size, shared);
        return lock == null ? null : new FileLock(this, position, size, shared) {
            @Override
            public boolean isValid() {
                return lock.isValid();
            }

            @Override
            public void release() throws IOException {
                system.tell("release");
                lock.release();
            }
        };
    }
}
