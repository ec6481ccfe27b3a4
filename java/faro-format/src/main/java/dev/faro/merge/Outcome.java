package dev.faro.merge;

/** What became of a push (MRG-5). What is refused is not lost: the producer's own output has it. */
public enum Outcome {
    /** The fragment is in the file. */
    MERGED("merged"),
    /** All of its blocks were in the file before. To its producer this is a success. */
    DUPLICATE("duplicate"),
    /** The merge was finalized or closed before the push was committed. */
    LATE("late"),
    /** The push is for another generation of the merge. */
    STALE("stale"),
    /** The file has blocks of this producer of another attempt. */
    OTHER_ATTEMPT("other-attempt"),
    /** The file does not have all blocks before one of the fragment. */
    GAP("gap"),
    /** Another push has the turn, and there is no room to wait. */
    COLLISION("collision");

    private final String text;

    Outcome(String text) {
        this.text = text;
    }

    /** Whether the file has the blocks of the push. */
    public boolean isSuccess() {
        return this == MERGED || this == DUPLICATE;
    }

    /** The outcome in lower case, as the specification spells it. */
    @Override
    public String toString() {
        return text;
    }
}
