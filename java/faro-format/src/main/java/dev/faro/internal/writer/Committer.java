package dev.faro.internal.writer;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.codec.Codec;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.block.BlockSeal;
import dev.faro.internal.bytes.HeaderBytes;
import dev.faro.internal.bytes.Tail;
import dev.faro.internal.message.Directory;
import dev.faro.internal.message.MessageBuilder;
import dev.faro.internal.message.MessageKind;
import dev.faro.internal.storage.OutputFile;
import java.nio.ByteBuffer;
import java.util.SortedMap;
import java.util.UUID;

/** Appends metadata to an index file or single file: messages, the footer, the tail. */
public final class Committer {
    private final OutputFile file;
    private final BlockSeal seal;
    private final Directory directory;
    private long sequence;

    /**
     * Continues a file.
     *
     * @param fileId the file_id in the file's header
     * @param directory the regions that the file has; {@link #region} adds to it
     * @param sequence the sequence of the next metadata block
     */
    public Committer(OutputFile file, UUID fileId, Directory directory, long sequence) {
        this.seal = new BlockSeal(fileId);
        this.file = file;
        this.directory = directory;
        this.sequence = sequence;
    }

    /** Writes a header. */
    public static void header(OutputFile file, FileHeader header) throws FaroException {
        int at = file.reserve(FileHeader.SIZE);
        file.buffer().put(at, HeaderBytes.encode(header), 0, FileHeader.SIZE);
        file.advance(FileHeader.SIZE);
    }

    /** The sequence of the next metadata block. */
    public long sequence() {
        return sequence;
    }

    /**
     * Adds a dictionary to the directory; its block is already written. In a single file, the block counts as metadata.
     */
    public void dictionary(long offset, int size, boolean single) {
        directory.addDictionary(offset, size);
        if (single) {
            sequence++;
        }
    }

    /** Writes the schema message of a file with framing arrow. */
    public void schema(byte[] arrow) throws FaroException {
        block(MessageBuilder.schema(arrow), MessageKind.SCHEMA);
    }

    /** Writes the message of a region. The region's data is already written. */
    public void region(ByteBuffer message, long dataOffset, long dataLength) throws FaroException {
        directory.add(file.position(), message.limit(), dataOffset, dataLength);
        block(message, MessageKind.REGION);
    }

    /**
     * A footer that was written.
     *
     * @param message little-endian, read from 0 to its limit
     * @param offset the offset of the footer block
     * @param sequence the sequence of the footer block
     */
    public record WrittenFooter(ByteBuffer message, long offset, long sequence) {}

    /**
     * Writes the footer and the tail.
     *
     * @param dataSize the size of the data file; ignored for a single file, where it is the offset of the footer
     * @param counts the statistics, or null
     * @param streams the streams, or null
     * @param properties sorted by the bytes of their keys; all text in UTF-8
     * @param createdBy the program, or null
     */
    public WrittenFooter footer(
            boolean single, long dataSize, MessageBuilder.Counts counts, MessageBuilder.StreamCounts streams,
            SortedMap<byte[], byte[]> properties, byte[] createdBy) throws FaroException {
        long offset = file.position();
        ByteBuffer message =
                MessageBuilder.footer(directory, single ? offset : dataSize, counts, streams, properties, createdBy);
        block(message, MessageKind.FOOTER);
        tail(file, new Tail(offset, message.limit()));
        return new WrittenFooter(message, offset, sequence - 1);
    }

    /** Writes a tail. */
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
                kind.blockKind(), Codec.NONE, 0));
    }

    /** The regions so far. */
    public Directory directory() {
        return directory;
    }
}
