package dev.faro.merge;

import dev.faro.FaroException;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.Reader;
import java.util.SortedSet;

/** A fragment of an output as a stream. */
final class FragmentStream extends PartStream {
    private final Reader reader;
    private final FragmentParts fragment;
    private final int to;
    private int partition;
    private BlockCursor blocks;
    private long number;
    private long count;

    private FragmentStream(Reader reader, int from, int to, SortedSet<Integer> named) {
        this.reader = reader;
        this.fragment = new FragmentParts(reader, target(), from, to, named);
        this.partition = from;
        this.to = to;
    }

    static FragmentStream of(Reader reader, int from, int to) throws FaroException {
        SortedSet<Integer> named = FragmentParts.named(reader, from, to, 0, FragmentParts.ALL);
        return new FragmentStream(reader, from, to, named);
    }

    /** A block, with what is before it, or the end. */
    @Override
    boolean next() throws FaroException {
        while (partition < to) {
            if (blocks == null) {
                blocks = reader.partition(partition);
                number = 0;
            }
            if (blocks.next()) {
                if (count++ == 0) {
                    fragment.begin();
                }
                fragment.block(partition, number++, blocks.block());
                return true;
            }
            release();
            partition++;
        }
        if (count > 0) {
            fragment.end(count, true);
        }
        return false;
    }

    @Override
    void release() throws FaroException {
        if (blocks != null) {
            blocks.close();
            blocks = null;
        }
    }
}
