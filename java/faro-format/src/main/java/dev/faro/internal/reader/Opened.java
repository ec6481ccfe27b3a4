package dev.faro.internal.reader;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.Framing;
import dev.faro.Limits;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.block.BlockReader;
import dev.faro.internal.block.Context;
import dev.faro.internal.block.Dictionaries;
import dev.faro.internal.block.Payloads;
import dev.faro.internal.block.Sequence;
import dev.faro.internal.bytes.Tail;
import dev.faro.internal.index.FooterMessage;
import dev.faro.internal.message.Fields;
import dev.faro.internal.message.MessageBuilder;
import dev.faro.internal.message.MessageKind;
import dev.faro.internal.message.TableView;
import dev.faro.internal.message.Verifier;
import dev.faro.internal.storage.InputFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The results of opening a finished output: checks 6 to 9 of OPN-1.
 *
 * @param footer the contents of the footer
 * @param footerOffset the offset of the footer block
 * @param footerSequence the sequence of the footer block
 * @param schema the encapsulated Arrow schema message, or null if the framing is not arrow
 */
public record Opened(FooterMessage footer, long footerOffset, long footerSequence, ByteBuffer schema) {
    /**
     * Makes the checks.
     *
     * @throws FaroException the first check that fails, or {@code io}
     */
    public static Opened of(FileSet files, Limits limits) throws FaroException {
        InputFile index = files.index();
        long tailOffset = index.size() - Tail.SIZE;
        Tail tail = index.readTailAtEnd(tailOffset + Tail.SIZE);
        long offset = tail.footerOffset();
        // The bounds are checked first, so that no sum of the tail's values can wrap.
        boolean leads = offset >= FileHeader.SIZE && offset <= tailOffset && offset % 8 == 0
                && BlockHeader.sizeInFile(tail.footerSize()) == tailOffset - offset;
        if (!leads) {
            throw index.fault(ErrorCode.INCONSISTENT_INDEX, tailOffset, "a tail that leads to the footer before it",
                    "footer_offset " + Long.toUnsignedString(offset) + ", footer_size " + tail.footerSize());
        }
        BlockReader reader = metadata(files, limits);
        reader.read(offset, tailOffset, tailOffset, Context.FOOTER, BlockHeader.NO_PARTITION, BlockReader.ANY_SEQUENCE);
        if (reader.storedSize() != tail.footerSize()) {
            throw reader.fault(ErrorCode.INCONSISTENT_INDEX, 0, "a footer of " + tail.footerSize() + " bytes",
                    reader.storedSize());
        }
        FooterMessage footer = FooterMessage.parse(reader.message(), files.header(), limits, index, offset);
        if (!files.isSingle()) {
            checkDataSize(files.data(), footer.dataSize());
        }
        ByteBuffer schema = files.header().framing() == Framing.ARROW ? readSchema(files, limits, tailOffset) : null;
        return new Opened(footer, offset, reader.sequence(), schema);
    }

    /**
     * Makes the results for an output that this process has just written, from what its writer has in memory. It reads
     * nothing.
     *
     * @param footer the footer message; the results keep it
     * @param schema the encapsulated Arrow schema message, or null if the framing is not arrow; not copied
     * @throws FaroException {@code limit-exceeded}, as {@link #of} reports it
     */
    public static Opened ofWritten(FileSet files, Limits limits, ByteBuffer footer, long footerOffset,
            long footerSequence, byte[] schema) throws FaroException {
        InputFile index = files.index();
        checkMessageSize(index, footerOffset, footer.limit(), limits);
        FooterMessage parsed = FooterMessage.parse(footer, files.header(), limits, index, footerOffset);
        if (schema != null) {
            checkMessageSize(index, FileHeader.SIZE, MessageBuilder.schema(schema).limit(), limits);
        }
        return new Opened(parsed, footerOffset, footerSequence,
                schema == null ? null : ByteBuffer.wrap(schema).order(ByteOrder.LITTLE_ENDIAN));
    }

    /** Makes check 3 of BLK-7 for a metadata block. */
    private static void checkMessageSize(InputFile file, long offset, long size, Limits limits) throws FaroException {
        if (size > limits.maxMessageSize()) {
            throw file.fault(
                    ErrorCode.LIMIT_EXCEEDED, offset, "a stored size of at most " + limits.maxMessageSize(), size);
        }
    }

    /** Makes a reader for blocks of the index file or single file that are not dictionaries. */
    private static BlockReader metadata(FileSet files, Limits limits) {
        return BlockReader.ofMetadata(files.index(), files.header().fileId(), limits)
                .with(files.header().hasDictionaries() ? Dictionaries.counted(() -> 0) : null);
    }

    private static void checkDataSize(InputFile data, long dataSize) throws FaroException {
        long size = data.size();
        if (size < dataSize) {
            throw data.fault(ErrorCode.TRUNCATED, size, dataSize + " bytes", size);
        }
        checkDataEnd(data, dataSize);
    }

    /** Makes check 8 of OPN-1. */
    public static void checkDataEnd(InputFile data, long dataSize) throws FaroException {
        long size = data.size();
        if (size > dataSize) {
            throw data.fault(ErrorCode.INCONSISTENT_INDEX, dataSize, dataSize + " bytes", size);
        }
    }

    /**
     * Checks the schema block (SCH-1).
     *
     * @param end the schema block must end at or before this offset
     * @return the encapsulated Arrow message
     * @throws FaroException the first check that fails, or {@code io}
     */
    public static ByteBuffer readSchema(FileSet files, Limits limits, long end) throws FaroException {
        BlockReader reader = metadata(files, limits);
        reader.read(FileHeader.SIZE, end, FileHeader.SIZE, Context.SCHEMA, BlockHeader.NO_PARTITION,
                Sequence.exactly(0));
        ByteBuffer message = reader.message();
        Verifier.check(message, MessageKind.SCHEMA, files.header().newerMinor(), files.index(),
                FileHeader.SIZE + BlockHeader.SIZE);
        ByteBuffer arrow = TableView.root(message).bytes(Fields.SCHEMA_ARROW, 1);
        if (!Payloads.isArrowMessage(arrow)) {
            throw reader.fault(ErrorCode.MALFORMED_MESSAGE, BlockHeader.SIZE, "an encapsulated Arrow message",
                    "other bytes");
        }
        return arrow;
    }
}
