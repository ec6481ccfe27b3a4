package dev.faro.spark;

import dev.faro.merge.Fragments;
import dev.faro.reader.Reader;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;

/**
 * An output that Spark's external shuffle service can serve: the data file has a fragment for each partition, one after
 * another (FRG-5), and the index file is Spark's. The service knows nothing of Faro; a reader finds in each fragment
 * whose it is, and that it is whole.
 */
final class ServedOutput implements Closeable {
    private static final int BUFFER = 256 << 10;

    private final FaroBlockResolver resolver;
    private final int shuffleId;
    private final long mapId;
    private final UnservedFiles sorted;
    private File fragments;

    ServedOutput(FaroBlockResolver resolver, int shuffleId, long mapId) {
        this.resolver = resolver;
        this.shuffleId = shuffleId;
        this.mapId = mapId;
        File named = resolver.getDataFile(shuffleId, mapId);
        this.sorted = new UnservedFiles("map task " + mapId + " of shuffle " + shuffleId, () -> resolver.createTempFile(named));
    }

    /** Where the Faro output is written first, which is removed in the end. */
    UnservedFiles sorted() {
        return sorted;
    }

    /** Writes the partitions together, and gives both files their names. {@code lengths} are those of the fragments. */
    void commit(Reader output, long[] lengths) throws IOException {
        fragments = resolver.createTempFile(resolver.getDataFile(shuffleId, mapId));
        try (OutputStream target = new BufferedOutputStream(Files.newOutputStream(fragments.toPath()), BUFFER)) {
            for (int partition = 0; partition < lengths.length; partition++) {
                long written = 0;
                if (lengths[partition] > 0) {
                    try (InputStream fragment = Fragments.stream(output, partition, partition + 1)) {
                        written = fragment.transferTo(target);
                    }
                }
                if (written != lengths[partition]) {
                    throw new IOException("a fragment of " + written + " bytes, and not " + lengths[partition]);
                }
            }
        }
        // Spark's own way: if another attempt was faster, its files stay.
        resolver.writeMetadataFileAndCommit(shuffleId, mapId, lengths, new long[0], fragments);
    }

    @Override
    public void close() {
        sorted.close();
        if (fragments != null) {
            // It is not there if it has its final name.
            fragments.delete();
        }
    }
}
