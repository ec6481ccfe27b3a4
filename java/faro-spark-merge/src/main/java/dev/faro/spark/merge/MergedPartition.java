package dev.faro.spark.merge;

import dev.faro.FaroException;
import dev.faro.index.Run;
import dev.faro.merge.FileIds;
import dev.faro.merge.Fragments;
import dev.faro.merge.Names;
import dev.faro.merge.PlacedRun;
import dev.faro.merge.Provenance;
import dev.faro.reader.Reader;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.network.shuffle.ExecutorDiskUtils;
import org.apache.spark.network.shuffle.MergedBlockMeta;
import org.roaringbitmap.RoaringBitmap;

/**
 * The merged file of a partition: its names, and what Spark asks of it. A chunk is a region, and is sent as a stream of
 * fragments (FRG-7), so that a reader checks each block, and knows of which map task and attempt it is.
 *
 * @param application Spark's name of the application
 * @param shuffleMergeId the number of the merge of the shuffle: the generation
 */
public record MergedPartition(String application, int shuffleId, int shuffleMergeId, int reduceId) {
    /** Where the files are: both in one of Spark's folders for merged files. */
    public Path name(String[] folders, int subfolders) {
        String name = "shuffleMerged_" + application + "_" + shuffleId + "_" + shuffleMergeId + "_" + reduceId;
        String data = ExecutorDiskUtils.getFilePath(folders, subfolders, name + ".data");
        return Path.of(data).resolveSibling(name);
    }

    /** The data file of the output with this name. */
    public static File data(Path name) {
        return name.resolveSibling(name.getFileName() + ".data").toFile();
    }

    /** The index file of the output with this name. */
    public static File index(Path name) {
        return name.resolveSibling(name.getFileName() + ".index").toFile();
    }

    /** The chunks of a merged file: each by the map tasks that it has. */
    public MergedBlockMeta meta(Reader merged) throws IOException {
        RoaringBitmap[] chunks = chunks(merged);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        for (RoaringBitmap chunk : chunks) {
            chunk.serialize(out);
        }
        return new MergedBlockMeta(chunks.length, new NioManagedBuffer(ByteBuffer.wrap(bytes.toByteArray())));
    }

    /** The map tasks of each chunk. One whose blocks are not complete is not named. */
    private RoaringBitmap[] chunks(Reader merged) throws FaroException {
        RoaringBitmap[] chunks = new RoaringBitmap[merged.regionCount()];
        for (int chunk = 0; chunk < chunks.length; chunk++) {
            chunks[chunk] = new RoaringBitmap();
        }
        for (PlacedRun placed : runs(merged)) {
            if (isWhole(placed.run())) {
                chunks[placed.region()].add((int) placed.run().producer());
            }
        }
        return chunks;
    }

    /** The map tasks of all chunks together. */
    RoaringBitmap maps(Reader merged) throws FaroException {
        return RoaringBitmap.or(chunks(merged));
    }

    /** The bytes of each chunk. */
    public long[] chunkSizes(Reader merged) throws FaroException {
        long[] sizes = new long[merged.regionCount()];
        for (PlacedRun placed : runs(merged)) {
            sizes[placed.region()] += placed.run().length() + Fragments.FRAME;
        }
        return sizes;
    }

    /** A chunk, which is read and checked while the stream is read. */
    public InputStream stream(Reader merged, int chunk) throws FaroException {
        check(merged);
        return Fragments.streamRegion(merged, chunk, new Names(application, String.valueOf(shuffleId)));
    }

    /** A chunk. It is read and checked now, so that a fault is this call's. */
    ManagedBuffer chunk(Reader merged, int chunk) throws IOException {
        try (InputStream fragments = stream(merged, chunk)) {
            return new NioManagedBuffer(ByteBuffer.wrap(fragments.readAllBytes()));
        }
    }

    /** A map task pushes all its blocks for a partition at once. */
    private static boolean isWhole(Run run) {
        return run.firstBlock() == 0 && run.last();
    }

    private List<PlacedRun> runs(Reader merged) throws FaroException {
        check(merged);
        return Provenance.runs(merged, reduceId);
    }

    private void check(Reader merged) throws FaroException {
        if (!merged.header().fileId().equals(
                FileIds.merged(application, String.valueOf(shuffleId), shuffleMergeId, reduceId))) {
            throw FaroException.invalidArgument("the merged file of " + this, "another output");
        }
    }
}
