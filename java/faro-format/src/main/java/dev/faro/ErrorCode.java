package dev.faro;

/** The closed set of error codes (ERR-1), the same in every implementation. */
public enum ErrorCode {
    /** The system refused an operation: a file is missing or unreadable, there is no space, a sync failed. */
    IO("io"),
    /** The file does not begin with the magic. */
    NOT_FARO("not-faro"),
    /** The file has another major version. */
    UNSUPPORTED_VERSION("unsupported-version"),
    /** The file has a feature bit, a file kind or a metadata kind that this reader does not know. */
    UNSUPPORTED_FEATURE("unsupported-feature"),
    /** A block has a codec number that this reader does not know. */
    UNSUPPORTED_CODEC("unsupported-codec"),
    /** The file has no tail: it is still being written, or its writer died. */
    UNFINISHED("unfinished"),
    /** The file ends before bytes that must be there. */
    TRUNCATED("truncated"),
    /** A checksum does not match: the file is damaged. */
    CHECKSUM("checksum"),
    /** A header with a valid checksum violates a rule. */
    MALFORMED_HEADER("malformed-header"),
    /** A block with a valid checksum violates a rule, or may not be in this context. */
    MALFORMED_BLOCK("malformed-block"),
    /** A message that is not structurally valid. */
    MALFORMED_MESSAGE("malformed-message"),
    /** Index, blocks, tail or statistics contradict each other. */
    INCONSISTENT_INDEX("inconsistent-index"),
    /** The data file and the index file do not belong together. */
    MISMATCHED_PAIR("mismatched-pair"),
    /** The file or record needs more than the caller allows. */
    LIMIT_EXCEEDED("limit-exceeded"),
    /** The caller made a mistake. */
    INVALID_ARGUMENT("invalid-argument");

    private final String text;

    ErrorCode(String text) {
        this.text = text;
    }

    /** The family of this code: where the fault is (ERR-5). */
    public ErrorFamily family() {
        return switch (this) {
            case IO -> ErrorFamily.ENVIRONMENT;
            case LIMIT_EXCEEDED -> ErrorFamily.LIMIT;
            case INVALID_ARGUMENT -> ErrorFamily.CALLER;
            default -> ErrorFamily.FILE;
        };
    }

    /** The code as the specification writes it, for example {@code not-faro}. */
    @Override
    public String toString() {
        return text;
    }
}
