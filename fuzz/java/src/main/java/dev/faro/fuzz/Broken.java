package dev.faro.fuzz;

/** A property of a target does not hold. A fuzzer looks for this, and for crashes. */
final class Broken extends RuntimeException {
    private static final long serialVersionUID = 1;

    Broken(String what) {
        super(what);
    }

    /** Fails unless a property holds. */
    static void unless(boolean holds, String property) {
        if (!holds) {
            throw new Broken(property);
        }
    }
}
