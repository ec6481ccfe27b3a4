package dev.faro.hybrid;

/** How far a partition of a selective store was read. Its consumer writes it, and spills read it at any time. */
final class Progress {
    /** The region that is being read; all before it were. */
    private volatile int region;
    /** The sequences after the last own and the last shared block that were delivered. */
    private volatile long own;
    private volatile long shared;

    void delivered(boolean isShared, long sequence) {
        if (isShared) {
            shared = sequence + 1;
        } else {
            own = sequence + 1;
        }
    }

    void moveTo(int number) {
        region = number;
    }

    int region() {
        return region;
    }

    /** The sequence from which blocks of a region are still wanted; the largest number if none are. */
    long wanted(int number, boolean isShared) {
        // One look at the region: it may grow meanwhile.
        int read = region;
        if (read < number) {
            return 0;
        }
        return read > number ? Long.MAX_VALUE : isShared ? shared : own;
    }

    long own() {
        return own;
    }

    long shared() {
        return shared;
    }
}
