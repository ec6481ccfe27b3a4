package dev.faro.merge;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.reader.Reader;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Objects;
import java.util.SortedSet;

/**
 * Makes fragments of an output, to be pushed (FRG-6). Every block is checked, and none is decoded. A block's number is its
 * position among all blocks that its partition reads (FRG-1).
 * <pre>{@code
 * FragmentSummary summary = Fragments.write(reader, 3, 4, connection.getOutputStream());
 * }</pre>
 *
 * <p>After an error the stream has no fragment, whatever it got.
 */
public final class Fragments {
    /** The bytes of a fragment beside its blocks, without schema and dictionaries: its header and its end block. */
    public static final int FRAME = FileHeader.SIZE + 40;

    private Fragments() {}

    /**
     * Writes the blocks of the partitions in [from, to) as one fragment. Without blocks it writes nothing.
     *
     * @throws FaroException {@code invalid-argument} for an empty range, partitions that the output does not have, and a
     *     merged file; a fault of PRT-3; {@code io} for what the stream refuses
     */
    public static FragmentSummary write(Reader reader, int from, int to, OutputStream target) throws FaroException {
        return write(reader, from, to, 0, FragmentParts.ALL, target);
    }

    /**
     * Writes the blocks of a partition whose numbers are in [fromNumber, toNumber) as one fragment.
     *
     * @throws FaroException as {@link #write(Reader, int, int, OutputStream)}
     */
    public static FragmentSummary writePart(
            Reader reader, int partition, long fromNumber, long toNumber, OutputStream target) throws FaroException {
        return write(reader, partition, partition + 1, fromNumber, toNumber, target);
    }

    /**
     * The fragment of the blocks of the partitions in [from, to), as a stream that reads each block when it is wanted.
     * Without blocks the stream is empty. It is read by one thread, and it has its own reader until it is closed, which
     * does not close the reader. What it throws is a {@link FaroException}.
     *
     * @throws FaroException {@code invalid-argument} as {@link #write(Reader, int, int, OutputStream)}; with
     *     dictionaries, a fault of PRT-3
     */
    public static InputStream stream(Reader reader, int from, int to) throws FaroException {
        return FragmentStream.of(reader, from, to);
    }

    /**
     * The runs of a region of a merged file as a stream of fragments (FRG-7), which a shuffle service sends to consumers:
     * one fragment for each run, as its producer pushed it. Each is made, and its blocks are checked, when it is wanted.
     * The stream is read by one thread, and what it throws is a {@link FaroException}.
     *
     * @param names the names of the shuffle, from which the file_id of each producer's output follows
     * @throws FaroException {@code invalid-argument} for a region that the file does not have, and for an output that is
     *     not merged; a fault of REG-10 or MRG-2
     */
    public static InputStream streamRegion(Reader merged, int region, Names names) throws FaroException {
        return RegionStream.of(merged.output(), region, names);
    }

    private static FragmentSummary write(
            Reader reader, int from, int to, long low, long high, OutputStream target) throws FaroException {
        Objects.requireNonNull(target, "target");
        SortedSet<Integer> named = FragmentParts.named(reader, from, to, low, high);
        FragmentParts fragment = new FragmentParts(reader, target, from, to, named);
        long[] count = new long[1];
        boolean last = FragmentParts.each(reader, from, to, low, high, (partition, number, blocks) -> {
            if (count[0]++ == 0) {
                fragment.begin();
            }
            fragment.block(partition, number, blocks.block());
        });
        return count[0] == 0 ? new FragmentSummary(0, 0, false) : fragment.end(count[0], last);
    }
}
