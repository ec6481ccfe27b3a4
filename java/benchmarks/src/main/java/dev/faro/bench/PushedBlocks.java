package dev.faro.bench;

import dev.faro.Framing;
import dev.faro.merge.Fragments;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What producers push, in files from which it is read as from a network.
 *
 * @param folder where merged files go
 * @param blockBytes the bytes of each block
 * @param blocks the number of blocks, each of a producer of its own
 * @param fragments the blocks as fragments, one after another
 * @param fragmentBytes the bytes of each fragment
 * @param plain the blocks alone, one after another
 */
record PushedBlocks(Path folder, int blockBytes, int blocks, Path fragments, int fragmentBytes, Path plain) {
    /** What is read at once. */
    static final int PIECE = 1 << 20;

    /** Takes the next bytes of a file. */
    interface Taker {
        void take(ByteBuffer bytes) throws Exception;
    }

    /** What gets pushes, one after another, each of the next producer. */
    interface Service {
        void begin() throws Exception;

        void take(ByteBuffer bytes) throws Exception;

        void commit() throws Exception;
    }

    static PushedBlocks make(Path folder, int blockBytes, int blocks) throws IOException {
        Records records = Records.text(blockBytes);
        Path fragments = folder.resolve("fragments");
        Path plain = folder.resolve("plain");
        int fragmentBytes = 0;
        try (OutputStream all = new BufferedOutputStream(Files.newOutputStream(fragments), PIECE);
                OutputStream bare = new BufferedOutputStream(Files.newOutputStream(plain), PIECE)) {
            for (int producer = 0; producer < blocks; producer++) {
                ByteBuffer block = ByteBuffer.wrap(
                        records.array(), records.start(producer % records.count()), blockBytes);
                bare.write(block.array(), block.position(), blockBytes);
                byte[] fragment = fragment(folder.resolve("output"), producer, block);
                all.write(fragment);
                if (producer > 0 && fragment.length != fragmentBytes) {
                    throw new IOException("fragments of different sizes");
                }
                fragmentBytes = fragment.length;
            }
        }
        return new PushedBlocks(folder, blockBytes, blocks, fragments, fragmentBytes, plain);
    }

    private static byte[] fragment(Path name, int producer, ByteBuffer block) throws IOException {
        WriterOptions options = new WriterOptions(1).producer(producer).framing(Framing.OPAQUE).layout(Layout.SINGLE)
                .bufferSize(PIECE).overwrite(true);
        Path file = Path.of(name + ".faro");
        try (Writer writer = Writer.create(name, options)) {
            writer.write(0, block);
            writer.finish();
        }
        ByteArrayOutputStream fragment = new ByteArrayOutputStream();
        try (Reader output = Reader.openSingle(file, ReaderOptions.DEFAULT)) {
            Fragments.write(output, 0, 1, fragment);
        }
        return fragment.toByteArray();
    }

    /** The plain size of all blocks in bytes. */
    long plainBytes() {
        return (long) blocks * blockBytes;
    }

    /** Reads a file from its beginning to its end, piece by piece. */
    static void eachPiece(Path file, Taker taker) throws Exception {
        ByteBuffer piece = ByteBuffer.allocateDirect(PIECE);
        try (FileChannel channel = FileChannel.open(file)) {
            while (channel.read(piece.clear()) > 0) {
                taker.take(piece.flip());
            }
        }
    }

    /** Reads a file as pushes of the same size, one after another. The bytes of each come in one piece or more. */
    static void eachPush(Path file, int pushBytes, Service service) throws Exception {
        int[] left = {0};
        eachPiece(file, piece -> {
            while (piece.hasRemaining()) {
                if (left[0] == 0) {
                    service.begin();
                    left[0] = pushBytes;
                }
                ByteBuffer now = piece.slice(piece.position(), Math.min(left[0], piece.remaining()));
                piece.position(piece.position() + now.remaining());
                left[0] -= now.remaining();
                service.take(now);
                if (left[0] == 0) {
                    service.commit();
                }
            }
        });
    }
}
