package dev.faro.codec;

/** A payload does not decode (COD). It has no stack trace: the caller turns it into a fault with code and offset. */
public final class DecodeException extends Exception {
    private static final long serialVersionUID = 1;
    private final boolean beyondLimit;

    DecodeException(boolean beyondLimit, String found) {
        super(found, null, false, false);
        this.beyondLimit = beyondLimit;
    }

    /** Whether the payload may be valid but needs more than a limit allows (COD-5). */
    public boolean beyondLimit() {
        return beyondLimit;
    }
}
