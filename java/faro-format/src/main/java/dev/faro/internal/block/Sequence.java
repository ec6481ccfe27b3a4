package dev.faro.internal.block;

/**
 * What is known of a block's sequence (BLK-3).
 *
 * @param exactly its number, or -1 if that is not known
 * @param above its number is above this, too; -1 for any number
 */
public record Sequence(long exactly, long above) {
    /** Exactly this number. */
    public static Sequence exactly(long number) {
        return new Sequence(number, -1);
    }

    /** Any number above this one. */
    public static Sequence above(long number) {
        return new Sequence(-1, number);
    }

    /** Exactly this number, which another count must come to as well; else none is right. */
    public static Sequence both(long number, long counted) {
        return number == counted ? exactly(number) : new Sequence(number, Long.MAX_VALUE);
    }

    /** Whether a number is as expected. */
    public boolean holds(long number) {
        return holds(exactly, above, number);
    }

    static boolean holds(long exactly, long above, long number) {
        return (exactly < 0 || number == exactly) && number > above;
    }

    @Override
    public String toString() {
        String number = exactly < 0 ? "a sequence" : "sequence " + exactly;
        return number + (above < 0 ? "" : above == Long.MAX_VALUE ? ", not as counted" : " above " + above);
    }
}
