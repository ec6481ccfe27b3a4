package dev.faro.writer;

import dev.faro.index.Statistics;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;

/**
 * What a writer made, for the scheduler of a shuffle: {@link Writer#finish} returns it without reading a file.
 * Immutable, and safe to share between threads.
 *
 * <pre>{@code
 * Summary summary = writer.finish();
 * report(summary.files(), summary.dataBytes() + summary.indexBytes());
 * }</pre>
 */
public final class Summary {
    private final Layout layout;
    private final List<Path> files;
    private final List<String> names;
    private final UUID fileId;
    private final int regions;
    private final long blocks;
    private final long dataBytes;
    private final long indexBytes;
    private final Statistics statistics;

    Summary(OutputFiles files, UUID fileId, int regions, long blocks, long dataBytes, long indexBytes,
            Statistics statistics) {
        this.layout = files.isSingle() ? Layout.SINGLE : Layout.PAIRED;
        this.files = files.paths();
        this.names = files.names();
        this.fileId = fileId;
        this.regions = regions;
        this.blocks = blocks;
        this.dataBytes = dataBytes;
        this.indexBytes = indexBytes;
        this.statistics = statistics;
    }

    /** Whether the output is a pair or a single file. */
    public Layout layout() {
        return layout;
    }

    /**
     * The data file and the index file, or the single file, by their final names; immutable. Empty for an output in a
     * storage.
     */
    public List<Path> files() {
        return files;
    }

    /** The same files by the names that errors show: paths, or those of a storage; immutable. */
    public List<String> names() {
        return names;
    }

    /** The file_id in the headers of the files (HDR). */
    public UUID fileId() {
        return fileId;
    }

    /** The number of regions. */
    public int regions() {
        return regions;
    }

    /** The number of blocks in the regions. Metadata and dictionaries do not count. */
    public long blocks() {
        return blocks;
    }

    /** The size of the data file; of a single file, the size of the regions' blocks. In bytes. */
    public long dataBytes() {
        return dataBytes;
    }

    /** The size of the index file; of a single file, the size of everything else. In bytes. */
    public long indexBytes() {
        return indexBytes;
    }

    /** The statistics that the footer has (FTR-4), or null if {@link WriterOptions#statistics} is off. */
    public Statistics statistics() {
        return statistics;
    }
}
