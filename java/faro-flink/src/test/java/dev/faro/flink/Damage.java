package dev.faro.flink;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Damage to the files of a finished partition, before they are read. */
enum Damage {
    /** In the bytes that a user's function gets, compressed or not. */
    BIT_OF_TEXT("a flipped bit in a record's text", (output, compressed) -> flipText(output)),
    /** In the four bytes at the beginning of a record. */
    BIT_OF_LENGTH("a flipped bit in a record's length", (output, compressed) ->
            flip(output.data(), output.blocks().get(0).payload() + (compressed ? Damage.TOKEN : 0) + 1)),
    BIT_OF_SIZE("a flipped bit in the size of a block", (output, compressed) ->
            flip(output.data(), output.blocks().get(0).size() + 1)),
    ZEROED_PAGE("4 KiB zeroed", (output, compressed) -> zeroPage(output)),
    ZEROED_SUBPARTITION("all of a subpartition zeroed", (output, compressed) -> zeroBlocks(output)),
    CUT_DATA("data file cut in half", (output, compressed) -> cut(output.data())),
    LOST_DATA("data file lost", (output, compressed) -> Files.delete(output.data())),
    BIT_OF_INDEX("a flipped bit in the index", (output, compressed) ->
            flip(output.index(), Files.size(output.index()) / 2)),
    CUT_INDEX("index cut in half", (output, compressed) -> cut(output.index())),
    LOST_INDEX("index lost", (output, compressed) -> Files.delete(output.index()));

    private static final String TEXT = "record ";
    /** The number of bytes before the first literals of an LZ4 block, if the literals are few. */
    private static final int TOKEN = 1;

    private final String title;
    private final Act act;

    /** Damages an output, with blocks that are compressed or not. */
    private interface Act {
        void to(WrittenOutput output, boolean compressed) throws IOException;
    }

    Damage(String title, Act act) {
        this.title = title;
        this.act = act;
    }

    String title() {
        return title;
    }

    /** Whether the compression of the bytes matters. */
    boolean isOfBytes() {
        return ordinal() < CUT_DATA.ordinal();
    }

    /** Applies the damage. If there is a choice, it hits the first bytes that the output's subpartition reads. */
    void to(WrittenOutput output, boolean compressed) throws IOException {
        act.to(output, compressed);
    }

    private static void flipText(WrittenOutput output) throws IOException {
        byte[] bytes = Files.readAllBytes(output.data());
        int at = (int) output.blocks().get(0).payload();
        while (!new String(bytes, at, TEXT.length(), StandardCharsets.ISO_8859_1).equals(TEXT)) {
            at++;
        }
        flip(output.data(), at + 2);
    }

    private static void zeroPage(WrittenOutput output) throws IOException {
        long from = output.blocks().get(0).from();
        long to = output.blocks().get(output.blocks().size() - 1).to();
        zero(output.data(), from, Math.min(to, from + 4096));
    }

    private static void zeroBlocks(WrittenOutput output) throws IOException {
        for (WrittenOutput.Block block : output.blocks()) {
            zero(output.data(), block.from(), block.to());
        }
    }

    private static void flip(Path path, long at) throws IOException {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            ByteBuffer one = ByteBuffer.allocate(1);
            file.read(one, at);
            file.write(ByteBuffer.wrap(new byte[] {(byte) (one.get(0) ^ 4)}), at);
        }
    }

    private static void zero(Path path, long from, long to) throws IOException {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
            file.write(ByteBuffer.allocate((int) (to - from)), from);
        }
    }

    private static void cut(Path path) throws IOException {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
            file.truncate(file.size() / 2);
        }
    }
}
