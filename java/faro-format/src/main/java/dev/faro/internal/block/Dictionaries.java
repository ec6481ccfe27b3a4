package dev.faro.internal.block;

import dev.faro.FaroException;
import dev.faro.codec.DictionaryDigest;

/** The dictionaries that the blocks of a file with the reader feature {@code dictionaries} may name (DIC). */
public interface Dictionaries {
    /** How many stand in the file before an offset: a block there may name these. */
    int before(long offset);

    /**
     * A dictionary that stands in the file.
     *
     * @throws FaroException its first fault (DIC-6)
     */
    DictionaryDigest digest(int number) throws FaroException;

    /**
     * Those of places where only blocks without plain payloads stand: so many are before each.
     *
     * @param count how many
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
