package dev.faro.internal.writer;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.codec.Decoder;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.block.BlockSeal;
import dev.faro.internal.bytes.HeaderBytes;
import dev.faro.internal.bytes.Tail;
import dev.faro.internal.message.Directory;
import dev.faro.internal.message.MessageBuilder;
import dev.faro.internal.message.MessageKind;
import dev.faro.internal.storage.OutputFile;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.SortedMap;
import java.util.UUID;

/** Appends metadata to an index or single file: messages, the footer, the tail. */
public final class Committer {
    private final OutputFile file;
    private final BlockSeal seal;
    private final Directory directory;
    private long sequence;

    /**
     * Goes on with a file.
     *
     * @param fileId of the file's header
     * @param directory the regions that it has; grows with {@link #region}
     * @param sequence number of the next metadata block
     */
    public Committer(OutputFile file, UUID fileId, Directory directory, long sequence) {
        this.seal = new BlockSeal(fileId);
        this.file = file;
        this.directory = directory;
        this.sequence = sequence;
    }

    /** Puts a header. */
    public static void header(OutputFile file, FileHeader header) throws FaroException {
        int at = file.reserve(FileHeader.SIZE);
        file.buffer().put(at, HeaderBytes.encode(header), 0, FileHeader.SIZE);
        file.advance(FileHeader.SIZE);
    }

    /** Number of the next metadata block. */
    public long sequence() {
        return sequence;
    }

    /** Notes a dictionary, whose block was put; in a single file it is a metadata block like others. */
    public void dictionary(long offset, int size, boolean single) {
        directory.addDictionary(offset, size);
        if (single) {
            sequence++;
        }
    }

    /** Puts the schema message of a file with framing arrow. */
    public void schema(byte[] arrow) throws FaroException {
        block(MessageBuilder.schema(arrow), MessageKind.SCHEMA);
    }

    /** Puts the message of a region, whose data is written. */
    public void region(ByteBuffer message, long dataOffset, long dataLength) throws FaroException {
        directory.add(file.position(), message.limit(), dataOffset, dataLength);
        block(message, MessageKind.REGION);
    }

    /**
     * Puts the footer and the tail.
     *
     * @param dataSize of the data file; a single file's is the footer's own offset
     * @param counts or null
     * @param properties sorted by the bytes of their keys; all text in UTF-8
     * @param createdBy or null
     */
    public void footer(
            boolean single, long dataSize, MessageBuilder.Counts counts, SortedMap<byte[], byte[]> properties,
            byte[] createdBy) throws FaroException {
        long offset = file.position();
        ByteBuffer message =
                MessageBuilder.footer(directory, single ? offset : dataSize, counts, properties, createdBy);
        block(message, MessageKind.FOOTER);
        tail(file, new Tail(offset, message.limit()));
    }

    /** Puts a tail. */
    public static void tail(OutputFile file, Tail tail) throws FaroException {
        int at = file.reserve(Tail.SIZE);
        tail.encode(file.buffer(), at);
        file.advance(Tail.SIZE);
    }

    private void block(ByteBuffer message, MessageKind kind) throws FaroException {
        int size = message.limit();
        int at = file.reserve((int) BlockHeader.sizeInFile(size));
        file.buffer().put(at + BlockHeader.SIZE, message, 0, size);
        file.advance(seal.seal(file.buffer(), at, size, size, BlockHeader.NO_PARTITION, sequence++,
                kind.blockKind(), Decoder.NONE, 0));
    }

    /** The regions so far. */
    public Directory directory() {
        return directory;
    }

    /** The bytes of a text that a message holds; not one with surrogates that stand alone, which UTF-8 has no bytes for. */
    public static byte[] utf8(String text) throws FaroException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (!new String(bytes, StandardCharsets.UTF_8).equals(text)) {
            throw FaroException.invalidArgument("text that UTF-8 can hold", "a surrogate by itself");
        }
        return bytes;
    }
}
