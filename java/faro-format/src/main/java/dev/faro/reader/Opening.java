package dev.faro.reader;

import dev.faro.FaroException;
import dev.faro.FileRole;
import dev.faro.internal.reader.FileSet;
import dev.faro.internal.reader.FinishedReader;
import dev.faro.internal.reader.ReaderNews;
import dev.faro.internal.storage.BroughtFile;
import dev.faro.internal.storage.NotBrought;
import dev.faro.storage.StoredOutput;
import dev.faro.storage.Wanted;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * Opens a finished output without reading: it names the bytes that it needs, and the caller brings them, from wherever
 * and whenever. The checks, their order and their errors are those of {@link Reader#openStored}. A {@link Feed} then
 * reads partitions in the same way.
 *
 * <pre>{@code
 * Opening opening = Opening.ofPair("orders.data", "orders.index", ReaderOptions.DEFAULT);
 * for (List<Wanted> wanted = opening.want(); !wanted.isEmpty(); wanted = opening.want()) {
 *     for (Wanted each : wanted) {
 *         Answer answer = myStorage.get(each);
 *         opening.bring(each.role(), answer.offset(), answer.bytes(), answer.sizeOfFile());
 *     }
 * }
 * try (Reader reader = opening.reader(); Feed feed = new Feed(reader, 7, 8, bytes -> {})) {
 *     ...
 * }
 * }</pre>
 *
 * <p>A pair with an index of at most 1 MiB needs one answer for each file, and both can be asked for at once. A single
 * file needs one answer if it has at most 64 KiB, and usually two if it is larger. One thread at a time calls
 * {@link #want}; any thread may bring bytes.
 */
public final class Opening {
    private final ReaderOptions options;
    private final BroughtFile data;
    private final BroughtFile index;
    private final StoredOutput output;
    private FaroException failure;
    private Reader reader;

    private Opening(BroughtFile data, BroughtFile index, StoredOutput output, ReaderOptions options) {
        this.data = data;
        this.index = index;
        this.output = output;
        this.options = Objects.requireNonNull(options, "options");
    }

    /**
     * Begins to open a pair.
     *
     * @param data the name of the data file, for people
     * @param index the name of the index file, for people
     */
    public static Opening ofPair(String data, String index, ReaderOptions options) {
        BroughtFile dataFile = new BroughtFile(FileRole.DATA, Objects.requireNonNull(data, "data"));
        BroughtFile indexFile = new BroughtFile(FileRole.INDEX, Objects.requireNonNull(index, "index"));
        return new Opening(dataFile, indexFile, StoredOutput.paired(dataFile, indexFile), options);
    }

    /**
     * Begins to open a single file.
     *
     * @param name the name of the file, for people
     */
    public static Opening ofSingle(String name, ReaderOptions options) {
        BroughtFile file = new BroughtFile(FileRole.SINGLE, Objects.requireNonNull(name, "name"));
        return new Opening(file, file, StoredOutput.single(file), options);
    }

    /**
     * Goes on with what was brought, and returns the bytes that are wanted next. They may be brought in any order, and
     * in pieces; what was not brought is wanted again.
     *
     * @return empty if the output is open, so that {@link #reader} returns it
     * @throws FaroException the first check of OPN-1 that fails; or {@code io} with the cause that was passed to
     *     {@link #fail}. Each later call throws it again
     */
    public List<Wanted> want() throws FaroException {
        if (failure != null) {
            throw failure.again();
        }
        if (reader != null) {
            return List.of();
        }
        try {
            reader = Reader.of(FinishedReader.open(FileSet.openStored(output), options));
            data.opened();
            index.opened();
        } catch (FaroException e) {
            List<Wanted> wanted = new ArrayList<>(NotBrought.wantedBy(e));
            if (wanted.isEmpty()) {
                failure = e;
                throw new ReaderNews(options.listener()).fault(e);
            }
            // What another file certainly needs can be brought at the same time.
            Stream.of(index, data).map(BroughtFile::firstWish)
                    .filter(wish -> wish != null && !wanted.contains(wish)).forEach(wanted::add);
            return wanted;
        }
        reader.output().news().opened(reader.output().files(), reader.regionCount());
        return List.of();
    }

    /**
     * Brings bytes of a file: those that are wanted, some of them, or more. They are copied. Bytes that a call of
     * {@link #want} or {@link Feed#want} asked for after the output was open are kept until they were used.
     *
     * @param role the file
     * @param offset the offset of the first byte in the file
     * @param bytes from the position to the limit, neither of which changes; may be empty
     * @param size the size of the whole file in bytes
     * @throws FaroException {@code invalid-argument} if the output has no such file, the bytes are outside of it, or an
     *     earlier call gave it another size: the file was replaced
     */
    public void bring(FileRole role, long offset, ByteBuffer bytes, long size) throws FaroException {
        Objects.requireNonNull(bytes, "bytes");
        file(role).bring(offset, bytes, size);
    }

    /**
     * Says that wanted bytes cannot be brought: the next call of {@link #want}, or of {@link Feed#want}, that needs
     * bytes of the file fails with {@code io}.
     *
     * @throws FaroException {@code invalid-argument} if the output has no such file
     */
    public void fail(FileRole role, IOException cause) throws FaroException {
        Objects.requireNonNull(cause, "cause");
        file(role).fail(cause);
    }

    private BroughtFile file(FileRole role) throws FaroException {
        Objects.requireNonNull(role, "role");
        boolean known = (role == FileRole.SINGLE) == output.isSingle();
        if (!known) {
            throw FaroException.invalidArgument(output.isSingle() ? "role single" : "role data or index", role);
        }
        return role == FileRole.INDEX ? index : data;
    }

    /**
     * The open output. It never reads: a call that needs bytes that were not brought fails with {@code io}, and
     * {@link #wantedBy} names them. After they were brought, calls such as {@link PartitionReader#region} and
     * {@link PartitionReader#storedBytes} can be repeated. A cursor that has failed cannot go on: use a {@link Feed}. A
     * scheduler refuses this reader. Closing it forgets the bytes.
     *
     * @throws IllegalStateException if the output is not open yet
     */
    public Reader reader() {
        if (reader == null) {
            throw new IllegalStateException("the output is not open yet");
        }
        return reader;
    }

    /** The bytes that a call lacked, if it failed for lack of bytes; otherwise an empty list. */
    public static List<Wanted> wantedBy(FaroException failed) {
        return NotBrought.wantedBy(Objects.requireNonNull(failed, "failed"));
    }
}
