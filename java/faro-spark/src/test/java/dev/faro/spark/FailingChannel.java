package dev.faro.spark;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;

/** A file whose writes fail, as those of a full disk do. */
final class FailingChannel extends FileChannel {
    private final FileChannel file;
    private final Faults faults;

    /** Decides which writes fail. */
    interface Faults {
        /** Before each write. */
        void write() throws IOException;
    }

    private FailingChannel(FileChannel file, Faults faults) {
        this.file = file;
        this.faults = faults;
    }

    /** Puts itself in the place of the channel that an object has in a field, unless it is there. */
    static void putInto(Object owner, String field, Faults faults) {
        try {
            Field place = owner.getClass().getDeclaredField(field);
            place.setAccessible(true);
            FileChannel now = (FileChannel) place.get(owner);
            if (now != null && !(now instanceof FailingChannel)) {
                place.set(owner, new FailingChannel(now, faults));
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public int write(ByteBuffer bytes) throws IOException {
        faults.write();
        return file.write(bytes);
    }

    @Override
    public long write(ByteBuffer[] bytes, int from, int count) throws IOException {
        faults.write();
        return file.write(bytes, from, count);
    }

    @Override
    public int write(ByteBuffer bytes, long position) throws IOException {
        faults.write();
        return file.write(bytes, position);
    }

    @Override
    public long transferFrom(ReadableByteChannel from, long position, long count) throws IOException {
        faults.write();
        return file.transferFrom(from, position, count);
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
        return file.read(into);
    }

    @Override
    public long read(ByteBuffer[] into, int from, int count) throws IOException {
        return file.read(into, from, count);
    }

    @Override
    public int read(ByteBuffer into, long position) throws IOException {
        return file.read(into, position);
    }

    @Override
    public long position() throws IOException {
        return file.position();
    }

    @Override
    public FileChannel position(long position) throws IOException {
        file.position(position);
        return this;
    }

    @Override
    public long size() throws IOException {
        return file.size();
    }

    @Override
    public FileChannel truncate(long size) throws IOException {
        file.truncate(size);
        return this;
    }

    @Override
    public void force(boolean metadata) throws IOException {
        file.force(metadata);
    }

    @Override
    public long transferTo(long position, long count, WritableByteChannel to) throws IOException {
        return file.transferTo(position, count, to);
    }

    @Override
    public MappedByteBuffer map(MapMode mode, long position, long size) throws IOException {
        return file.map(mode, position, size);
    }

    @Override
    public FileLock lock(long position, long size, boolean shared) throws IOException {
        return file.lock(position, size, shared);
    }

    @Override
    public FileLock tryLock(long position, long size, boolean shared) throws IOException {
        return file.tryLock(position, size, shared);
    }

    @Override
    protected void implCloseChannel() throws IOException {
        file.close();
    }
}
