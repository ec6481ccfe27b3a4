package dev.faro.fuzz;

/** A property of a target that does not hold: what a fuzzer looks for, beside crashes. */
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
