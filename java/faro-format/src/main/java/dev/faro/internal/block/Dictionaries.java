package dev.faro.internal.block;

import dev.faro.FaroException;
import dev.faro.codec.DictionaryDigest;

/** The dictionaries that blocks may use in a file with the reader feature {@code dictionaries} (DIC). */
public interface Dictionaries {
    /** The number of dictionaries before an offset in the file. A block there may use these. */
    int before(long offset);

    /**
     * Returns a dictionary of the file.
     *
     * @throws FaroException the dictionary's first fault (DIC-6)
     */
    DictionaryDigest digest(int number) throws FaroException;

    /**
     * Dictionaries for a walk over blocks that are not decoded, such as metadata: only their number is known.
     *
     * @param count the number of dictionaries before the current block
     */
    static Dictionaries counted(java.util.function.IntSupplier count) {
        return new Dictionaries() {
            @Override
            public int before(long offset) {
                return count.getAsInt();
            }

            @Override
            public DictionaryDigest digest(int number) {
                throw new IllegalStateException("nothing is decoded here");
            }
        };
    }
}
