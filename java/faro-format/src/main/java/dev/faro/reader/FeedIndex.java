package dev.faro.reader;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.message.Directory;
import dev.faro.internal.reader.OutputReader;
import dev.faro.internal.storage.BroughtFile;
import dev.faro.internal.storage.NotBrought;
import dev.faro.storage.Wanted;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * What a {@link Feed} needs besides blocks, if its reader was made by {@link Opening}: region messages and
 * dictionaries. One thread plans; another one may poll.
 */
final class FeedIndex {
    /** The maximum size of the region messages that are wanted before they are needed, in bytes. */
    private static final int AHEAD = 1 << 20;
    private static final int MOST_RANGES = 64;

    private final OutputReader output;
    private final Directory directory;
    private final BroughtFile index;
    private final BroughtFile data;
    private int forgotten;
    /** The dictionaries that are in the reader, so that their bytes are not needed any more. */
    private final BitSet digested = new BitSet();
    /** The bytes of a dictionary that a block waits for, or waited for. */
    private volatile List<Wanted> awaited = List.of();

    private FeedIndex(OutputReader output, BroughtFile index, BroughtFile data) {
        this.output = output;
        this.directory = output.directory();
        this.index = index;
        this.data = data;
    }

    /** Makes it; null if the reader reads its files itself. */
    static FeedIndex of(OutputReader output) {
        BroughtFile index = output.files().index().brought();
        return index == null ? null : new FeedIndex(output, index, output.files().data().brought());
    }

    /** Adds messages of later regions to what one region lacks: a feed needs them all. */
    List<Wanted> withFollowing(List<Wanted> missing, int region) {
        List<Wanted> wanted = new ArrayList<>(missing);
        long bytes = 0;
        for (int next = region + 1; next < directory.size() && wanted.size() < MOST_RANGES; next++) {
            long start = directory.messageOffset(next);
            long end = messageEnd(next);
            bytes += end - start;
            if (bytes > AHEAD) {
                break;
            }
            if (!output.regions().isCached(next) && !index.holds(start, end)) {
                add(wanted, start, end);
            }
        }
        return wanted;
    }

    private static void add(List<Wanted> wanted, long start, long end) {
        Wanted last = wanted.get(wanted.size() - 1);
        if (last.offset() + last.length() == start) {
            wanted.set(wanted.size() - 1, new Wanted(last.role(), last.offset(), end - last.offset()));
        } else {
            wanted.add(new Wanted(last.role(), start, end - start));
        }
    }

    private long messageEnd(int region) {
        return directory.messageOffset(region) + BlockHeader.sizeInFile(directory.messageSize(region) & 0xFFFFFFFFL);
    }

    /** Forgets the messages of the first regions, which are not needed any more. */
    void forget(int regionsDone) {
        for (; forgotten < regionsDone; forgotten++) {
            index.forget(directory.messageOffset(forgotten), messageEnd(forgotten));
        }
    }

    /** Returns blocks that were brought already, as a direct copy; otherwise null. */
    ByteBuffer held(long from, long to) {
        return data.copy(from, to);
    }

    /**
     * Whether the dictionary of a block was brought, or a fault of it is found without more bytes: decoding reports it.
     * If not, {@link #wantedDictionary} names the bytes.
     *
     * @throws FaroException {@code io} if the caller said that the file fails
     */
    boolean hasDictionary(int number, long at) throws FaroException {
        if (number == 0 || number > output.dictionaries().before(at) || digested.get(number)) {
            return true;
        }
        try {
            output.dictionaries().digest(number);
            digested.set(number);
            long offset = directory.dictionaryOffset(number - 1);
            data.forget(offset, offset + BlockHeader.sizeInFile(directory.dictionarySize(number - 1) & 0xFFFFFFFFL));
        } catch (FaroException e) {
            List<Wanted> missing = NotBrought.wantedBy(e);
            if (!missing.isEmpty()) {
                awaited = missing;
                return false;
            }
            if (e.code() == ErrorCode.IO) {
                throw e;
            }
        }
        return true;
    }

    /** The bytes of the dictionary that the next block waits for; empty if it waits for none. */
    List<Wanted> wantedDictionary() {
        List<Wanted> missing = awaited;
        if (missing.stream().allMatch(each -> data.holds(each.offset(), each.offset() + each.length()))) {
            return List.of();
        }
        return missing;
    }
}
