package dev.faro;

/** The closed set of error codes (ERR-1), the same in every implementation. */
public enum ErrorCode {
    /** The system refused: missing, unreadable, no space, a failed sync. */
    IO("io"),
    /** The file does not begin with the magic. */
    NOT_FARO("not-faro"),
    /** Another major version. */
    UNSUPPORTED_VERSION("unsupported-version"),
    /** A feature bit, file kind or metadata kind that this reader does not know. */
    UNSUPPORTED_FEATURE("unsupported-feature"),
    /** A codec number that this reader does not know. */
    UNSUPPORTED_CODEC("unsupported-codec"),
    /** No tail: still being written, or its writer died. */
    UNFINISHED("unfinished"),
    /** Bytes that must be there are not. */
    TRUNCATED("truncated"),
    /** A checksum does not match: damage. */
    CHECKSUM("checksum"),
    /** A header that verifies and breaks a rule. */
    MALFORMED_HEADER("malformed-header"),
    /** A block that verifies and breaks a rule, or does not fit its place. */
    MALFORMED_BLOCK("malformed-block"),
    /** A message that is not structurally valid. */
    MALFORMED_MESSAGE("malformed-message"),
    /** Index, blocks, tail or statistics contradict each other. */
    INCONSISTENT_INDEX("inconsistent-index"),
    /** Data and index file do not belong together. */
    MISMATCHED_PAIR("mismatched-pair"),
    /** The file (or record) asks for more than the caller allows. */
    LIMIT_EXCEEDED("limit-exceeded"),
    /** The caller's mistake. */
    INVALID_ARGUMENT("invalid-argument");

    private final String text;

    ErrorCode(String text) {
        this.text = text;
    }

    /** Where a fault with this code is (ERR-5). */
    public ErrorFamily family() {
        return switch (this) {
            case IO -> ErrorFamily.ENVIRONMENT;
            case LIMIT_EXCEEDED -> ErrorFamily.LIMIT;
            case INVALID_ARGUMENT -> ErrorFamily.CALLER;
            default -> ErrorFamily.FILE;
        };
    }

    /** The code as the specification writes it, such as {@code not-faro}. */
    @Override
    public String toString() {
        return text;
    }
}
