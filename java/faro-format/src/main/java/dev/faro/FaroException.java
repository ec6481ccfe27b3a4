package dev.faro;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;

/**
 * The checked exception for every fault that this library reports. It has one of the codes of ERR-1, the file, the
 * absolute offset in it, what was expected there, and what was found (ERR-2).
 *
 * <p>A program can decide by the family what to do next:
 * <pre>{@code
 * try {
 *     read(reader);
 * } catch (FaroException e) {
 *     switch (e.code().family()) {
 *         case ENVIRONMENT -> tryAgain();
 *         case FILE -> runProducerAgain(e.fileName(), e.offset());
 *         case LIMIT, CALLER -> throw e;
 *     }
 * }
 * }</pre>
 */
public final class FaroException extends IOException {
    private static final long serialVersionUID = 1;

    /** The offset of an error that has none. */
    public static final long NO_OFFSET = -1;

    private final ErrorCode code;
    private final FileRole role;
    private final String fileName;
    private final transient Path file;
    private final long offset;
    private final String expected;
    private final String found;

    /**
     * Makes an error.
     *
     * @param role the role of the file, or null
     * @param file the file, or null
     * @param offset the absolute offset in bytes, or {@link #NO_OFFSET}
     * @param cause the error that led to this one, or null
     */
    public FaroException(
            ErrorCode code, FileRole role, Path file, long offset, String expected, String found, Throwable cause) {
        this(code, role, nameOf(file), file, offset, expected, found, cause);
    }

    private FaroException(ErrorCode code, FileRole role, String fileName, Path file, long offset, String expected,
            String found, Throwable cause) {
        super(describe(code, role, fileName, offset, expected, found), cause);
        this.code = code;
        this.role = role;
        this.fileName = fileName;
        this.file = file;
        this.offset = offset;
        this.expected = expected;
        this.found = found;
    }

    /** Makes an {@code io} error: the system refused an operation on the file. It has no offset. */
    public static FaroException io(FileRole role, Path file, String wanted, Throwable cause) {
        return new FaroException(ErrorCode.IO, role, file, NO_OFFSET, wanted, told(nameOf(file), cause), cause);
    }

    /** Makes an error of a file that has a name but no path. */
    public static FaroException inStorage(
            ErrorCode code, FileRole role, String fileName, long offset, String expected, String found) {
        return new FaroException(code, role, fileName, null, offset, expected, found, null);
    }

    /** Makes an {@code io} error of a file that has a name but no path: its storage failed. It has no offset. */
    public static FaroException ioInStorage(FileRole role, String fileName, String wanted, Throwable cause) {
        return new FaroException(
                ErrorCode.IO, role, fileName, null, NO_OFFSET, wanted, told(fileName, cause), cause);
    }

    private static String nameOf(Path file) {
        return file == null ? null : file.toString();
    }

    /** What the system said, without the file if that is the one that the error names already. */
    private static String told(String fileName, Throwable cause) {
        if (fileName == null || !(cause instanceof FileSystemException e) || e.getOtherFile() != null
                || !fileName.equals(e.getFile())) {
            return cause.toString();
        }
        String name = e.getClass().getName();
        return e.getReason() == null ? name : name + ": " + e.getReason();
    }

    /** Makes an {@code invalid-argument} error: the caller made a mistake. It has no file and no offset. */
    public static FaroException invalidArgument(String expected, Object found) {
        return new FaroException(
                ErrorCode.INVALID_ARGUMENT, null, null, NO_OFFSET, expected, String.valueOf(found), null);
    }

    /**
     * Makes a {@code limit-exceeded} error without file and offset: a record or region is larger than the caller
     * allows.
     */
    public static FaroException limitExceeded(String expected, Object found) {
        return new FaroException(
                ErrorCode.LIMIT_EXCEEDED, null, null, NO_OFFSET, expected, String.valueOf(found), null);
    }

    /**
     * A copy of this error, with this one as its cause. A writer or reader that has failed throws it at each later
     * call.
     */
    public FaroException again() {
        return again("");
    }

    /** The same as {@link #again()}, with more about what was found. */
    public FaroException again(String more) {
        return new FaroException(code, role, fileName, file, offset, expected, found + more, this);
    }

    /** The code. */
    public ErrorCode code() {
        return code;
    }

    /** The role of the file, or null if the error has no file, or one that is neither data, index nor single file. */
    public FileRole role() {
        return role;
    }

    /** The path of the file, or null if the error has no file, the file is not local, or the error was serialized. */
    public Path file() {
        return file;
    }

    /** The name of the file: its path, or the name that its storage gives it. Null if the error has no file. */
    public String fileName() {
        return fileName;
    }

    /** The absolute offset in the file in bytes, or {@link #NO_OFFSET}. */
    public long offset() {
        return offset;
    }

    /** What was expected, as text for people. */
    public String expected() {
        return expected;
    }

    /** What was found, as text for people. */
    public String found() {
        return found;
    }

    private static String describe(
            ErrorCode code, FileRole role, String fileName, long offset, String expected, String found) {
        StringBuilder text = new StringBuilder(code.toString());
        if (fileName != null) {
            text.append(" in ").append(role == null ? "" : role + " file ").append(fileName);
        }
        if (offset != NO_OFFSET) {
            text.append(" at offset ").append(offset);
        }
        return text.append(": expected ").append(expected).append(", found ").append(found).toString();
    }
}
