package dev.faro.internal.block;

/**
 * What a reader expects of a block's sequence (BLK-3).
 *
 * @param exactly the sequence, or -1 if it is not known
 * @param above the sequence must be above this as well; -1 allows any
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

    /** Exactly this number, if the count agrees; otherwise no sequence is right. */
    public static Sequence both(long number, long counted) {
        return number == counted ? exactly(number) : new Sequence(number, Long.MAX_VALUE);
    }

    /** Whether a sequence is as expected. */
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
