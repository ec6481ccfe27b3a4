package dev.faro.hadoop;

import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.FutureDataInputStreamBuilder;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.impl.FutureDataInputStreamBuilderImpl;

/** Local files as those of a store that is not local: it counts requests, and its streams have vectored reads. */
final class CountingFileSystem extends FilterFileSystem {
    final List<String> requests = Collections.synchronizedList(new ArrayList<>());
    /** Whether a vectored read returns less than it should. */
    volatile boolean breaksVectored;
    volatile IOException failure;

    CountingFileSystem(FileSystem local, Configuration configuration) {
        super(local);
        setConf(configuration);
    }

    @Override
    public URI getUri() {
        return URI.create("counting:///");
    }

    @Override
    protected void checkPath(Path path) {}

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
        requests.add("status " + path.getName());
        return super.getFileStatus(path);
    }

    @Override
    public FutureDataInputStreamBuilder openFile(Path path) {
        return new FutureDataInputStreamBuilderImpl(this, path) {
            @Override
            public CompletableFuture<FSDataInputStream> build() throws IOException {
                return CompletableFuture.completedFuture(new Counted(fs.open(path), path.getName()));
            }

            @Override
            public FutureDataInputStreamBuilder getThisBuilder() {
                return this;
            }
        };
    }

    private final class Counted extends FSDataInputStream {
        private final String name;

        Counted(FSDataInputStream in, String name) {
            super(in);
            this.name = name;
        }

        private void count(String what) throws IOException {
            requests.add(what + " " + name);
            if (failure != null) {
                throw failure;
            }
        }

        @Override
        public int read(long position, byte[] buffer, int offset, int length) throws IOException {
            count("read");
            return super.read(position, buffer, offset, length);
        }

        @Override
        public void readVectored(List<? extends FileRange> ranges, IntFunction<ByteBuffer> allocate)
                throws IOException {
            count("vectored read");
            long end = 0;
            for (FileRange range : ranges) {
                // As S3A refuses it.
                if (range.getOffset() < end || range.getLength() == 0) {
                    throw new IllegalArgumentException("overlapping or empty ranges");
                }
                end = range.getOffset() + range.getLength();
            }
            super.readVectored(ranges, allocate);
            if (breaksVectored) {
                ranges.get(0).setData(CompletableFuture.completedFuture(ByteBuffer.allocate(1)));
            }
        }
    }
}
