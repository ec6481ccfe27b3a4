package dev.faro.fuzz;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileRole;
import dev.faro.Limits;
import dev.faro.codec.Codec;
import dev.faro.codec.DecodeException;
import dev.faro.codec.Decoder;
import dev.faro.codec.Encoder;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.block.BlockReader;
import dev.faro.internal.block.Context;
import dev.faro.internal.block.Sequence;
import dev.faro.internal.storage.InputFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.UUID;

/** {@code codec_lz4} and {@code codec_zstd}: one payload as the only block of a partition. */
final class CodecTarget implements Target {
    private static final int MAX_PLAIN = 0x1FFFF;
    private static final int AT = Seal.HEADER;
    private static final Limits LIMITS = Limits.DEFAULT.withMaxBlockSize(1 << 26).withMaxPlainSize(1 << 26)
            .withMaxMessageSize(1 << 26).withMaxWindowSize(1 << 20);

    private final Codec codec;
    private final Decoder decoder = new Decoder();

    CodecTarget(Codec codec) {
        this.codec = codec;
    }

    @Override
    public void run(byte[] input, Folder folder, Transcript transcript) throws IOException {
        int plainSize = FilesInput.number(Arrays.copyOf(input, 3), 0, 3) & MAX_PLAIN;
        byte[] stored = input.length > 3 ? Arrays.copyOfRange(input, 3, input.length) : new byte[0];
        Path path = folder.write(FilesInput.DATA, file(stored, plainSize));
        try (InputFile file = InputFile.open(FileRole.DATA, path)) {
            byte[] plain = bytes(read(file).plainPayload(decoder));
            Broken.unless(plain.length == plainSize, "the payload has plain_size bytes");
            transcript.line("plain", Sums.of(plain));
            encodeAgain(plain);
        } catch (FaroException e) {
            judge(e, stored.length < plainSize);
            transcript.line("!" + e.code(), "block", e.offset() - AT);
            transcript.note(e.code() + "@block:" + (e.offset() - AT));
        }
    }

    private byte[] file(byte[] stored, int plainSize) {
        long end = AT + BlockHeader.SIZE + Seal.pad8(stored.length);
        ByteBuffer file = ByteBuffer.allocate((int) end).order(ByteOrder.LITTLE_ENDIAN);
        file.putInt(AT, stored.length).putInt(AT + 4, plainSize).put(AT + 17, (byte) codec.number());
        file.put(AT + BlockHeader.SIZE, stored);
        file.putInt(AT + 20, Seal.block(file.array(), AT, stored.length));
        return file.array();
    }

    private static BlockReader read(InputFile file) throws FaroException {
        BlockReader block = BlockReader.ofExtents(file, new UUID(0, 0), LIMITS, true);
        long end = file.size();
        block.read(AT, end, end, Context.EXTENT, 0, Sequence.exactly(0));
        return block;
    }

    private void judge(FaroException e, boolean shrinks) {
        long blockOffset = e.offset() - AT;
        boolean beyond = e.code() == ErrorCode.LIMIT_EXCEEDED && codec == Codec.ZSTD
                && blockOffset == BlockHeader.SIZE;
        boolean malformed = e.code() == ErrorCode.MALFORMED_BLOCK && blockOffset == (shrinks ? BlockHeader.SIZE : 4);
        Broken.unless(beyond || malformed, "the error is one of a payload: " + e);
    }

    /** Encodes and decodes again: the result must be the input. */
    private void encodeAgain(byte[] plain) {
        try (Encoder encoder = new Encoder(codec, 1)) {
            ByteBuffer from = ByteBuffer.allocateDirect(plain.length).put(plain).flip();
            ByteBuffer packed = ByteBuffer.allocateDirect((int) encoder.bound(plain.length));
            int size = encoder.encode(from, plain.length, packed, 0);
            ByteBuffer stored = packed.slice(0, size).order(ByteOrder.LITTLE_ENDIAN);
            byte[] again = bytes(decoder.decode(codec, stored, plain.length, LIMITS.maxWindowSize(), null));
            Broken.unless(Arrays.equals(plain, again), "the decoded bytes are those that were encoded");
        } catch (DecodeException e) {
            throw new Broken("an encoded payload can be decoded: " + e.getMessage());
        }
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(buffer.position(), bytes);
        return bytes;
    }
}
