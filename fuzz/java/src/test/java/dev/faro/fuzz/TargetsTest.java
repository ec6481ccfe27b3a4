package dev.faro.fuzz;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.Framing;
import dev.faro.codec.Codec;
import dev.faro.merge.Fragments;
import dev.faro.merge.Outcome;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class TargetsTest {
    @TempDir
    private Path outputs;
    private Folder folder;

    @BeforeEach
    void makeFolder() throws Exception {
        folder = new Folder();
    }

    @AfterEach
    void removeFolder() {
        folder.close();
    }

    static Iterable<String> targets() {
        return Targets.names();
    }

    /** The files of an output, the data file of a pair first. */
    private List<byte[]> written(Layout layout) throws Exception {
        WriterOptions options = new WriterOptions(3).layout(layout).framing(Framing.RECORDS).codec(Codec.LZ4)
                .blockSize(64).fileId(new UUID(1, 2));
        try (Writer writer = Writer.create(outputs.resolve("out"), options)) {
            for (int i = 0; i < 12; i++) {
                writer.write(i % 3, bytes("record ".repeat(i)));
            }
            writer.broadcast(bytes("to all"));
            writer.flush();
            writer.write(1, bytes("the last"));
            writer.finish();
        }
        List<byte[]> files = new ArrayList<>();
        for (String name : layout == Layout.SINGLE ? List.of("out.faro") : List.of("out.data", "out.index")) {
            files.add(Files.readAllBytes(outputs.resolve(name)));
        }
        return files;
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static byte[] input(List<byte[]> files, int flags, int mode) {
        int first = files.get(0).length;
        int last = files.get(files.size() - 1).length;
        ByteBuffer head = ByteBuffer.allocate(14).order(ByteOrder.LITTLE_ENDIAN);
        head.put((byte) (flags | files.size() - 1)).put((byte) mode).putInt(2, first);
        head.putShort(5, (short) (first / 2)).putShort(7, (short) (last / 2)).putShort(9, (short) first)
                .putShort(11, (short) (last - 20));
        ByteArrayOutputStream input = new ByteArrayOutputStream();
        input.write(head.array(), 0, 13);
        files.forEach(input::writeBytes);
        return input.toByteArray();
    }

    private static List<byte[]> torn(List<byte[]> files) {
        List<byte[]> torn = new ArrayList<>(files);
        byte[] last = torn.remove(torn.size() - 1);
        torn.add(Arrays.copyOf(last, last.length - 24));
        return torn;
    }

    private String run(String target, byte[] input) throws Exception {
        return Targets.runTwice(target, input, folder).toString();
    }

    /** Inputs of every length are accepted. */
    @ParameterizedTest
    @MethodSource("targets")
    void everyCutOfAnInput(String target) throws Exception {
        byte[] input = new byte[33];
        for (int size = 0; size < input.length; size++) {
            input[size] = (byte) (7 + size);
            Targets.run(target, Arrays.copyOf(input, size), folder);
        }
    }

    @ParameterizedTest
    @EnumSource(Layout.class)
    void soundOutput(Layout layout) throws Exception {
        byte[] input = input(written(layout), 0, 0);
        assertTrue(Targets.run("open", input, folder).verdict().startsWith("ok "));
        assertTrue(run("read_all", input).contains("check decode 2 "));
        assertTrue(run("follow", input).contains("poll 5 2 1\n"));
        assertTrue(run("repair", input).startsWith("dry nothing 2 0 0 0\nreal nothing 2 0 0 0\n"));
    }

    @ParameterizedTest
    @EnumSource(Layout.class)
    void tornOutputIsRepaired(Layout layout) throws Exception {
        List<byte[]> files = written(layout);
        assertTrue(run("repair", input(torn(files), 0, 0)).contains("real last-commit 2 "));
        String rebuilt = run("repair", input(files, 0, 1));
        String expected = layout == Layout.SINGLE ? "real !invalid-argument - -" : "real rebuilt 2 ";
        assertTrue(rebuilt.contains(expected), rebuilt);
    }

    @ParameterizedTest
    @EnumSource(Layout.class)
    void seal(Layout layout) throws Exception {
        for (byte[] file : written(layout)) {
            byte[] sealed = file.clone();
            Seal.seal(sealed);
            assertArrayEquals(file, sealed);
            sealed[60]++;
            sealed[64 + 20]++;
            sealed[file.length - (file[8] == 1 ? file.length - 60 : 10)]++;
            byte[] broken = sealed.clone();
            Seal.seal(sealed);
            assertArrayEquals(file, sealed);
            assertArrayEquals(file, FilesInput.of(input(List.of(broken), 8, 0)).first());
            assertArrayEquals(broken, FilesInput.of(input(List.of(broken), 0, 0)).first());
        }
    }

    @Test
    void modelOfRebuild() throws Exception {
        byte[] file = written(Layout.PAIRED).get(0);
        String whole = DataModel.of(file, FilesInput.limits((byte) 0)).result();
        assertTrue(whole.endsWith(" kept " + file.length + " cut 0 orphaned 1"), whole);
        byte[] cut = Arrays.copyOf(file, file.length - 1);
        assertFalse(whole.equals(DataModel.of(cut, FilesInput.limits((byte) 0)).result()));
        assertEquals("truncated at 4", DataModel.of(Arrays.copyOf(file, 4), FilesInput.limits((byte) 0)).result());
    }

    /** Two fragments of an output: of partitions 0 and 1, and of partition 2. */
    private List<byte[]> pushed() throws Exception {
        WriterOptions options =
                new WriterOptions(3).fileId(new UUID(1, 2)).blockSize(16).producer(7).overwrite(true);
        try (Writer writer = Writer.create(outputs.resolve("pushed"), options)) {
            for (int i = 0; i < 12; i++) {
                writer.write(i % 3, bytes("record ".repeat(i)));
            }
            writer.finish();
        }
        List<byte[]> fragments = new ArrayList<>();
        try (Reader reader = Reader.openPair(outputs.resolve("pushed.data"), outputs.resolve("pushed.index"),
                ReaderOptions.DEFAULT)) {
            for (int[] range : new int[][] {{0, 2}, {2, 3}}) {
                ByteArrayOutputStream fragment = new ByteArrayOutputStream();
                Fragments.write(reader, range[0], range[1], fragment);
                fragments.add(fragment.toByteArray());
            }
        }
        return fragments;
    }

    private static byte[] program(List<byte[]> fragments, int... steps) {
        ByteArrayOutputStream program = new ByteArrayOutputStream();
        program.writeBytes(new byte[] {0x18, 2, 0, 0, (byte) fragments.size()});
        for (byte[] fragment : fragments) {
            program.writeBytes(new byte[] {(byte) fragment.length, (byte) (fragment.length >> 8)});
            program.writeBytes(fragment);
        }
        for (int step : steps) {
            program.write(step);
        }
        return program.toByteArray();
    }

    private static byte[] stream(int flags, List<byte[]> fragments) {
        ByteArrayOutputStream stream = new ByteArrayOutputStream();
        stream.write(flags);
        fragments.forEach(stream::writeBytes);
        return stream.toByteArray();
    }

    @Test
    void fragmentsAreRead() throws Exception {
        List<byte[]> fragments = pushed();
        String text = run("fragments", stream(8, fragments));
        assertTrue(text.startsWith("fragment 7 0 0 2\nblocks 8 "), text);
        assertTrue(text.contains("\nfragment 7 0 2 1\nblocks 4 "), text);
        byte[] last = fragments.get(1);
        String cut = run("fragments", stream(0, List.of(fragments.get(0), Arrays.copyOf(last, last.length - 1))));
        assertTrue(cut.endsWith("!truncated fragment " + (last.length - 1) + "\n"), cut);
    }

    @Test
    void sealOfStream() throws Exception {
        List<byte[]> fragments = pushed();
        byte[] stream = stream(0, fragments);
        stream = Arrays.copyOfRange(stream, 1, stream.length);
        byte[] broken = stream.clone();
        for (int at : new int[] {60, 84, fragments.get(0).length + 60, fragments.get(0).length + 84}) {
            broken[at]++;
        }
        Seal.sealStream(broken);
        assertArrayEquals(stream, broken);
    }

    @Test
    void fragmentsAreMerged() throws Exception {
        String text = run("merge", program(pushed(), 0, 1, 0, 0, 0, 1, 5, 0));
        for (String line : List.of("step 2 merged", "step 5 merged", "step 8 duplicate", "step 9 stale",
                "step 10 finalized 2 3", "have 0 7 0 4 1", "have 1 7 0 4 1", "have 2 7 0 4 1")) {
            assertTrue(text.contains(line + "\n"), text);
        }
        // Regions that were ended are still there after the merge was closed.
        String resumed = run("merge", program(pushed(), 0, 1, 13, 0, 1, 12));
        assertTrue(resumed.contains("step 6 duplicate\nstep 7 done\nfile data "), resumed);
    }

    @Test
    void answersUnlikeTheModelAreFound() throws Exception {
        MergeProgram program = MergeProgram.of(program(pushed(), 0, 1));
        Path name = folder.path("out");
        MergeModel model = new MergeModel(program, folder.path("out.data"), folder.path("out.index"));
        assertThrows(Broken.class, () -> program.carryOut(name,
                (step, answer) -> model.step(step, answer == Outcome.MERGED ? Outcome.DUPLICATE : answer)));
    }

    @Test
    void bytesMeanCalls() {
        byte[] input = "\3\4\22\0\20\1\2ab\10\u00A9\1\u00FF\12\2\u00FE\0\7\1c".getBytes(StandardCharsets.ISO_8859_1);
        Program program = Program.of(input);
        assertEquals(5, program.partitionCount);
        assertEquals(2, program.firstPartition);
        assertEquals(1, program.rotation);
        assertEquals(5, program.calls.size());
        Program.Put put = (Program.Put) program.calls.get(0);
        assertEquals(3, put.partitions()[0]);
        assertEquals("abab", new String(put.payload(), StandardCharsets.US_ASCII));
        assertEquals(new Program.Flush(), program.calls.get(1));
        assertEquals(new Program.Property("k10", "ff"), program.calls.get(2));
        Program.Handed handed = (Program.Handed) program.calls.get(3);
        assertTrue(handed.items().get(0).all());
        assertEquals(9, handed.items().get(1).partition());
        assertEquals(5, handed.items().get(1).payload().length);
        assertEquals(new Program.Finish(), program.calls.get(4));
    }

    /** The command that fuzz/verdicts starts. */
    @Test
    void verdicts() throws Exception {
        Path empty = Files.write(outputs.resolve("empty"), new byte[0]);
        Files.write(outputs.resolve("message.inputs"), new byte[] {0, 0, 0, 0, 1, 0, 0, 0, 'r'});
        java.io.PrintStream before = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        try {
            System.setOut(new java.io.PrintStream(printed, true, StandardCharsets.US_ASCII));
            Main.main(new String[] {"verdicts", outputs.toString()});
            Main.main(new String[] {"transcript", "message", empty.toString()});
        } finally {
            System.setOut(before);
        }
        String[] lines = printed.toString(StandardCharsets.US_ASCII).split("\n");
        assertTrue(lines[0].startsWith("message e3b0c44298fc1c14 malformed-message@-:- "), lines[0]);
        assertTrue(lines[1].startsWith("message 454349e422f05297 malformed-message@-:- "), lines[1]);
        assertEquals("refused", lines[2]);
    }

    /** An error that no bytes can cause is never accepted as a refusal. */
    @Test
    void errorsAreJudged() throws Exception {
        Path file = folder.write("x", new byte[5]);
        FaroException io = FaroException.io(dev.faro.FileRole.DATA, file, "a disk", new java.io.IOException());
        assertThrows(Broken.class, () -> FilesInput.judged(io));
        FaroException outside = new FaroException(
                ErrorCode.MALFORMED_BLOCK, dev.faro.FileRole.DATA, file, 6, "a place in the file", "none", null);
        assertThrows(Broken.class, () -> FilesInput.judged(outside));
    }
}
