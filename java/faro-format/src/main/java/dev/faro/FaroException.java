package dev.faro;

import java.io.IOException;
import java.nio.file.Path;

/**
 * The only checked exception of this library: one of the codes of ERR-1 with the file, the absolute offset in it, what
 * was expected there and what was found (ERR-2).
 */
public final class FaroException extends IOException {
    private static final long serialVersionUID = 1;

    /** The offset of errors that have none. */
    public static final long NO_OFFSET = -1;

    private final ErrorCode code;
    private final FileRole role;
    private final transient Path file;
    private final long offset;
    private final String expected;
    private final String found;

    /**
     * An error.
     *
     * @param role role of the file, or null
     * @param file the file, or null
     * @param offset absolute offset in bytes, or {@link #NO_OFFSET}
     * @param cause the error underneath, or null
     */
    public FaroException(
            ErrorCode code, FileRole role, Path file, long offset, String expected, String found, Throwable cause) {
        super(describe(code, role, file, offset, expected, found), cause);
        this.code = code;
        this.role = role;
        this.file = file;
        this.offset = offset;
        this.expected = expected;
        this.found = found;
    }

    /** The system refused something with this file: {@code io} without an offset. */
    public static FaroException io(FileRole role, Path file, String wanted, Throwable cause) {
        return new FaroException(ErrorCode.IO, role, file, NO_OFFSET, wanted, cause.toString(), cause);
    }

    /** The caller's mistake: {@code invalid-argument} without file and offset. */
    public static FaroException invalidArgument(String expected, Object found) {
        return new FaroException(
                ErrorCode.INVALID_ARGUMENT, null, null, NO_OFFSET, expected, String.valueOf(found), null);
    }

    /** A record or region beyond what the caller allows: {@code limit-exceeded} without file and offset. */
    public static FaroException limitExceeded(String expected, Object found) {
        return new FaroException(
                ErrorCode.LIMIT_EXCEEDED, null, null, NO_OFFSET, expected, String.valueOf(found), null);
    }

    /** The same error to be thrown once more, by a writer or reader that failed before; this one is its cause. */
    public FaroException again() {
        return new FaroException(code, role, file, offset, expected, found, this);
    }

    /** Which error. */
    public ErrorCode code() {
        return code;
    }

    /** The role of the file, or null when the error has no file. */
    public FileRole role() {
        return role;
    }

    /** The file, or null when the error has none (or was serialized). */
    public Path file() {
        return file;
    }

    /** The absolute offset in bytes, or {@link #NO_OFFSET}. */
    public long offset() {
        return offset;
    }

    /** What was expected; free text. */
    public String expected() {
        return expected;
    }

    /** What was found; free text. */
    public String found() {
        return found;
    }

    private static String describe(
            ErrorCode code, FileRole role, Path file, long offset, String expected, String found) {
        StringBuilder text = new StringBuilder(code.toString());
        if (role != null) {
            text.append(" in ").append(role).append(" file ").append(file);
        }
        if (offset != NO_OFFSET) {
            text.append(" at ").append(offset);
        }
        return text.append(": expected ").append(expected).append(", found ").append(found).toString();
    }
}
