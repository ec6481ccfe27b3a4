package dev.faro.spark;

import dev.faro.FileHeader;
import dev.faro.Limits;
import dev.faro.merge.FileIds;
import dev.faro.merge.FragmentReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/**
 * The plain payloads of a fragment, one after another. Each block is checked before a byte of it is delivered, and the
 * fragment has to be of the output that was asked for, with all blocks of the partitions that were asked for.
 */
final class FragmentPayloads extends PayloadStream {
    private final FragmentReader fragments;
    private final String application;
    private final int shuffleId;
    private final long mapId;
    private final int firstPartition;
    private final int partitionCount;
    private boolean begun;

    FragmentPayloads(InputStream stream, String application, int shuffleId, long mapId, int firstPartition,
            int partitionCount) {
        this.fragments = new FragmentReader(stream, Limits.DEFAULT);
        this.application = application;
        this.shuffleId = shuffleId;
        this.mapId = mapId;
        this.firstPartition = firstPartition;
        this.partitionCount = partitionCount;
    }

    @Override
    ByteBuffer nextPayload() throws IOException {
        if (!begun) {
            begun = true;
            if (!fragments.nextFragment()) {
                throw new IOException(what() + " has no bytes");
            }
            check(fragments.header());
        }
        if (fragments.nextBlock()) {
            return fragments.payload();
        }
        if (!fragments.isLast() || fragments.nextFragment()) {
            throw new IOException(what() + " is not one fragment with all blocks of its partitions");
        }
        return null;
    }

    private void check(FileHeader header) throws IOException {
        boolean whole = header.firstPartition() == firstPartition && header.partitionCount() == partitionCount;
        boolean own = header.attempt() == mapId && header.fileId().equals(
                FileIds.output(application, String.valueOf(shuffleId), header.producer(), mapId));
        if (!whole || !own) {
            throw new IOException(what() + " is a fragment of another output, or of other partitions");
        }
    }

    private String what() {
        return "the block of shuffle " + shuffleId + ", map task " + mapId + ", partition " + firstPartition;
    }

    @Override
    public void close() throws IOException {
        super.close();
        fragments.close();
    }
}
