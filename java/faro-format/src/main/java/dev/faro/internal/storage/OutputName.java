package dev.faro.internal.storage;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileRole;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;

/**
 * The NAME of an output (PUB-1).
 *
 * @param path the NAME as it was given
 * @param base the last part of the path, without the ending
 * @param ending the ending of the path
 */
public record OutputName(Path path, String base, Ending ending) {
    private static final String SINGLE = ".faro";
    private static final String DATA = ".data";
    private static final String INDEX = ".index";

    /** The layout that an ending means. */
    public enum Ending {
        /** A pair: {@code .data} or {@code .index}. */
        PAIRED,
        /** A single file: {@code .faro}. */
        SINGLE,
        /** Neither of these endings: both layouts are possible. */
        NONE
    }

    /**
     * Parses a NAME.
     *
     * @throws FaroException {@code invalid-argument} if the path is not a NAME, such as {@code ..}
     */
    public static OutputName of(Path path) throws FaroException {
        Path last = path.getFileName();
        String name = last == null ? "" : last.toString();
        Ending ending = name.endsWith(SINGLE) ? Ending.SINGLE
                : name.endsWith(DATA) || name.endsWith(INDEX) ? Ending.PAIRED : Ending.NONE;
        String base = ending == Ending.NONE ? name : name.substring(0, name.lastIndexOf('.'));
        if (List.of("", ".", "..").contains(base)) {
            throw FaroException.invalidArgument("the NAME of an output", path);
        }
        return new OutputName(path, base, ending);
    }

    /** The final name of the file with a role. */
    public Path file(FileRole role) {
        return path.resolveSibling(base + switch (role) {
            case DATA -> DATA;
            case INDEX -> INDEX;
            case SINGLE -> SINGLE;
            case FRAGMENT -> throw new IllegalArgumentException("a fragment is not a file of an output");
        });
    }

    /** The final names of an output: data and index, or the single file. */
    public List<Path> files(boolean single) {
        return single ? List.of(file(FileRole.SINGLE)) : List.of(file(FileRole.DATA), file(FileRole.INDEX));
    }

    /** The file of the publishing lock. */
    public Path lock() {
        return path.resolveSibling(base + PublishingLock.ENDING);
    }

    /**
     * The files that a reader opens: data and index, or a single file.
     *
     * @throws FaroException {@code invalid-argument} if files of both layouts exist and NAME does not say which to
     *     open; {@code io} if there is none
     */
    public List<Path> toRead() throws FaroException {
        if (ending != Ending.NONE) {
            return files(ending == Ending.SINGLE);
        }
        boolean single = exists(file(FileRole.SINGLE));
        boolean paired = exists(file(FileRole.DATA)) || exists(file(FileRole.INDEX));
        if (single && paired) {
            throw FaroException.invalidArgument("one output of this NAME; add .faro or .data to say which",
                    "both layouts of " + path);
        }
        if (single || paired) {
            return files(single);
        }
        if (Files.isRegularFile(path)) {
            return List.of(path);
        }
        throw new FaroException(ErrorCode.IO, null, path, FaroException.NO_OFFSET,
                "an output: " + base + SINGLE + ", or " + base + DATA + " and " + base + INDEX, "none of these files",
                new NoSuchFileException(path.toString()));
    }

    /** A broken link counts as existing; opening it reports what is wrong. */
    private static boolean exists(Path file) {
        return Files.exists(file, LinkOption.NOFOLLOW_LINKS);
    }
}
