package dev.faro.fuzz;

import dev.faro.FaroException;
import dev.faro.Limits;
import dev.faro.follow.Follower;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;

/**
 * An input that consists of files (TARGETS.md).
 *
 * @param pair whether there are two files
 * @param options limits, and whether checksums of partition blocks are verified
 * @param mode the byte that the target interprets
 * @param growth for {@code follow}
 * @param first the data file of a pair, or the single file
 * @param second the index file of a pair, or null
 */
record FilesInput(boolean pair, ReaderOptions options, int mode, int[] growth, byte[] first, byte[] second) {
    static final String DATA = "out.data";
    static final String INDEX = "out.index";
    static final String SINGLE = "out.faro";

    private static final int FILES = 13;
    private static final long CACHE = 1 << 20;
    private static final Limits MIDDLE = Limits.DEFAULT.withMaxBlockSize(1 << 20).withMaxPlainSize(1 << 17)
            .withMaxMessageSize(1 << 20).withMaxRegions(4096).withMaxDictionarySize(1 << 17).withMaxDictionaries(4)
            .withMaxWindowSize(1 << 17);
    /** The defaults, except for the plain size: a few bytes could decompress to that much, many times. */
    private static final Limits LARGE = Limits.DEFAULT.withMaxBlockSize(1 << 26).withMaxPlainSize(1 << 20)
            .withMaxMessageSize(1 << 26).withMaxWindowSize(1 << 23);
    private static final List<Limits> LIMITS =
            List.of(MIDDLE, Limits.DEFAULT.withMaxBlockSize(256).withMaxPlainSize(512).withMaxMessageSize(512)
                    .withMaxRegions(2).withMaxDictionarySize(64).withMaxDictionaries(1)
                    .withMaxWindowSize(1024), LARGE, MIDDLE);
    private static final int UNVERIFIED = 3;

    static FilesInput of(byte[] input) {
        byte[] head = Arrays.copyOf(input, FILES);
        int[] growth = new int[4];
        for (int i = 0; i < growth.length; i++) {
            growth[i] = number(head, 5 + 2 * i, 2);
        }
        byte[] rest = input.length > FILES ? Arrays.copyOfRange(input, FILES, input.length) : new byte[0];
        boolean pair = (head[0] & 1) != 0;
        int firstSize = pair ? Math.min(rest.length, number(head, 2, 3)) : rest.length;
        byte[] first = Arrays.copyOf(rest, firstSize);
        byte[] second = pair ? Arrays.copyOfRange(rest, firstSize, rest.length) : null;
        if (isSealed(head[0])) {
            Seal.seal(first);
            if (pair) {
                Seal.seal(second);
            }
        }
        int limits = head[0] >> 1 & 3;
        ReaderOptions options = ReaderOptions.DEFAULT.withLimits(LIMITS.get(limits)).withVerify(limits != UNVERIFIED)
                .withCacheBytes(CACHE);
        return new FilesInput(pair, options, head[1] & 0xFF, growth, first, second);
    }

    /** The limits that a byte of flags selects. */
    static Limits limits(byte flags) {
        return LIMITS.get(flags >> 1 & 3);
    }

    static boolean isSealed(byte flags) {
        return (flags & 8) != 0;
    }

    /** A little-endian number of {@code size} bytes. */
    static int number(byte[] bytes, int at, int size) {
        int value = 0;
        for (int i = size - 1; i >= 0; i--) {
            value = value << 8 | bytes[at + i] & 0xFF;
        }
        return value;
    }

    Limits limits() {
        return options.limits();
    }

    String firstName() {
        return pair ? DATA : SINGLE;
    }

    String secondName() {
        return pair ? INDEX : SINGLE;
    }

    byte[] secondOrOnly() {
        return pair ? second : first;
    }

    void write(Folder folder) throws IOException {
        folder.write(firstName(), first);
        if (pair) {
            folder.write(INDEX, second);
        }
    }

    Reader reader(Folder folder) throws FaroException {
        return reader(folder, options);
    }

    Reader reader(Folder folder, ReaderOptions other) throws FaroException {
        return pair
                ? Reader.openPair(folder.path(DATA), folder.path(INDEX), other)
                : Reader.openSingle(folder.path(SINGLE), other);
    }

    Follower follower(Folder folder) throws FaroException {
        return pair
                ? Follower.openPair(folder.path(DATA), folder.path(INDEX), options)
                : Follower.openSingle(folder.path(SINGLE), options);
    }

    /** Checks that an error of reading is one that a reader may report, and in its file. */
    static FaroException judged(FaroException e) throws IOException {
        switch (e.code()) {
            case IO, INVALID_ARGUMENT -> throw new Broken("the error can come from the bytes of a file: " + e);
            default -> Broken.unless(
                    e.role() != null && e.offset() >= 0 && e.offset() <= java.nio.file.Files.size(e.file()),
                    "the offset is inside the file: " + e);
        }
        return e;
    }
}
