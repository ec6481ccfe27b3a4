package dev.faro.repair;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.follow.Follower;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.repair.RecoverReport.Action;
import dev.faro.testing.OtherProcess;
import dev.faro.testing.Outputs;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The files that a dead writer leaves (PUB-7), and what recover makes of them (PUB-8). */
@Timeout(120)
class RecoverTest {
    private static final UUID ONE = new UUID(0x0a1b2c3d_0000_4000L, 1);
    private static final UUID TWO = new UUID(0xffee0011_0000_4000L, 2);
    private static final String X = "0a1b2c3d";
    private static final String Y = "ffee0011";

    @TempDir
    Path folder;

    private Path name() {
        return folder.resolve("out");
    }

    private static RecoverOptions named(String fileId) {
        return RecoverOptions.DEFAULT.withFileId(fileId);
    }

    private static final RecoverOptions OVERWRITE = RecoverOptions.DEFAULT.withOverwrite(true);

    /**
     * The attributes of all files, which any change would alter. Reading the files would lose the locks of a writer in
     * this process.
     */
    private Map<String, String> state() throws Exception {
        Map<String, String> state = new TreeMap<>();
        for (String file : Outputs.names(folder)) {
            BasicFileAttributes now = Files.readAttributes(folder.resolve(file), BasicFileAttributes.class);
            state.put(file, now.size() + " bytes, " + now.lastModifiedTime() + ", " + now.fileKey());
        }
        return state;
    }

    /** Recovers, after a dry run that must report the same and change nothing. */
    private RecoverReport recover(RecoverOptions options) throws Exception {
        Map<String, String> before = state();
        RecoverReport dry = Recover.recover(
                name(), options.withDryRun(true));
        assertEquals(before, state());
        RecoverReport report = Recover.recover(name(), options);
        assertEquals(dry, report);
        assertFalse(System.getProperties().stringPropertyNames().stream().anyMatch(key -> key.startsWith("dev.faro.")));
        return report;
    }

    private FaroException refuse(ErrorCode code, RecoverOptions options) throws Exception {
        Map<String, String> before = state();
        for (boolean dryRun : new boolean[] {true, false}) {
            RecoverOptions same = RecoverOptions.DEFAULT.withFileId(options.fileId())
                    .withOverwrite(options.overwrite()).withLimits(options.limits()).withDryRun(dryRun);
            FaroException e = assertThrows(FaroException.class, () -> Recover.recover(name(), same));
            assertEquals(code, e.code(), e.getMessage());
        }
        assertEquals(before, state());
        return assertThrows(FaroException.class, () -> Recover.recover(name(), options));
    }

    /** Makes the files of a writer in another process that was killed. */
    private void dead(UUID id, Layout layout, boolean follow, int regions) throws Exception {
        try (OtherProcess other = OtherProcess.start()) {
            assertEquals("written", other.ask("write", name(), id, layout, follow, regions));
            other.kill();
        }
    }

    /** Makes the files of a complete output with temporary names. */
    private void whole(UUID id, Layout layout) throws Exception {
        Path other = Files.createTempDirectory(folder, "made").resolve("out");
        try (Writer writer = Writer.create(other, new WriterOptions(3).layout(layout).fileId(id))) {
            for (int i = 0; i < 3; i++) {
                writer.write(i, Outputs.bytes("whole " + id));
                writer.flush();
            }
            writer.finish();
        }
        for (Path file : Outputs.files(other, layout)) {
            Files.move(file, folder.resolve(file.getFileName() + "." + id.toString().substring(0, 8) + ".tmp"));
        }
        Files.delete(other.getParent());
    }

    private void clear() throws Exception {
        for (String file : Outputs.names(folder)) {
            Files.delete(folder.resolve(file));
        }
    }

    private void check(Layout layout, int regions, UUID id) throws Exception {
        assertEquals(regions, Outputs.check(name(), layout).regions());
        try (Reader reader = Outputs.open(name(), layout)) {
            assertEquals(id, reader.header().fileId());
        }
        List<String> names = Outputs.files(Path.of("out"), layout).stream().map(Path::toString).toList();
        assertEquals(names, Outputs.names(folder));
    }

    private Path temporary(String ending) {
        return folder.resolve("out" + ending + "." + X + ".tmp");
    }

    /** Row 1 of PUB-7, and WRT-12: everything that was committed is there, although nothing was synced. */
    @Test
    void committedRegionsOfAKilledWriter() throws Exception {
        for (Layout layout : Layout.values()) {
            dead(ONE, layout, false, 4);
            assertTrue(Outputs.names(folder).stream().allMatch(file -> file.endsWith("." + X + ".tmp")));
            assertEquals(new RecoverReport(Action.LAST_COMMIT, X, 4), recover(RecoverOptions.DEFAULT));
            check(layout, 4, ONE);
            assertEquals(new RecoverReport(Action.NOTHING, null, 4), recover(RecoverOptions.DEFAULT));
            clear();
        }
    }

    /** Row 6. */
    @Test
    void committedRegionsOfAKilledFollowedWriter() throws Exception {
        for (Layout layout : Layout.values()) {
            dead(ONE, layout, true, 3);
            assertEquals(new RecoverReport(Action.LAST_COMMIT, X, 3), recover(named(X)));
            check(layout, 3, ONE);
            clear();
        }
    }

    /** Row 1: the writer died between its last write and its first name. Row 3: between its two names. */
    @Test
    void wholeFilesGetTheirNames() throws Exception {
        for (Layout layout : Layout.values()) {
            whole(ONE, layout);
            assertEquals(new RecoverReport(Action.PUBLISHED, X, 3), recover(RecoverOptions.DEFAULT));
            check(layout, 3, ONE);
            clear();
        }
        whole(ONE, Layout.PAIRED);
        Files.move(temporary(".data"), folder.resolve("out.data"));
        assertEquals(new RecoverReport(Action.PUBLISHED, X, 3), recover(RecoverOptions.DEFAULT));
        check(Layout.PAIRED, 3, ONE);
        // With an older index, as with overwrite.
        clear();
        whole(TWO, Layout.PAIRED);
        Files.delete(folder.resolve("out.data." + Y + ".tmp"));
        Files.move(folder.resolve("out.index." + Y + ".tmp"), folder.resolve("out.index"));
        whole(ONE, Layout.PAIRED);
        Files.move(temporary(".data"), folder.resolve("out.data"));
        assertEquals(new RecoverReport(Action.PUBLISHED, X, 3), recover(RecoverOptions.DEFAULT));
        check(Layout.PAIRED, 3, ONE);
    }

    /** Row 2: the writer died between the link and the removal, of its first file or of both. */
    @Test
    void secondNames() throws Exception {
        whole(ONE, Layout.PAIRED);
        Files.createLink(folder.resolve("out.data"), temporary(".data"));
        assertEquals(new RecoverReport(Action.PUBLISHED, X, 3), recover(RecoverOptions.DEFAULT));
        check(Layout.PAIRED, 3, ONE);
        clear();
        whole(ONE, Layout.SINGLE);
        Files.createLink(folder.resolve("out.faro"), temporary(".faro"));
        assertEquals(Action.NOTHING, recover(RecoverOptions.DEFAULT).action());
        assertEquals(List.of("out.faro", "out.faro." + X + ".tmp"), Outputs.names(folder));
    }

    /** Row 4: a lock of a dead process does no harm. */
    @Test
    void aLockOfADeadProcess() throws Exception {
        whole(ONE, Layout.PAIRED);
        Files.createFile(folder.resolve("out.faro-lock"));
        assertEquals(Action.PUBLISHED, recover(RecoverOptions.DEFAULT).action());
        check(Layout.PAIRED, 3, ONE);
    }

    /** Step 7, and row 5: a rebuild that died before. */
    @Test
    void anIndexWithoutAHeaderIsRebuilt() throws Exception {
        for (String index : new String[] {"none", "empty", "short", "damaged"}) {
            whole(ONE, Layout.PAIRED);
            Path file = temporary(".index");
            byte[] bytes = Files.readAllBytes(file);
            switch (index) {
                case "none" -> Files.delete(file);
                case "empty" -> Files.write(file, new byte[0]);
                case "short" -> Files.write(file, Arrays.copyOf(bytes, 63));
                default -> {
                    bytes[50] ^= 1;
                    Files.write(file, bytes);
                }
            }
            Files.writeString(folder.resolve("out.index.rebuild.tmp"), "of one that died");
            assertEquals(new RecoverReport(Action.REBUILT, X, 1), recover(RecoverOptions.DEFAULT));
            check(Layout.PAIRED, 1, ONE);
            clear();
        }
    }

    @Test
    void nothingIsSavedWithoutAHeader() throws Exception {
        for (Layout layout : Layout.values()) {
            String ending = layout == Layout.SINGLE ? ".faro" : ".data";
            whole(ONE, layout);
            Files.write(temporary(ending), new byte[40]);
            assertEquals(new RecoverReport(Action.NOTHING_SAVED, null, 0), recover(RecoverOptions.DEFAULT));
            assertEquals(new RecoverReport(Action.NOTHING_SAVED, null, 0), recover(named(X)));
            assertTrue(Files.exists(temporary(ending)));
            // Such files do not count if there is another output.
            whole(TWO, layout);
            assertEquals(new RecoverReport(Action.PUBLISHED, Y, 3), recover(RecoverOptions.DEFAULT));
            clear();
        }
        Files.write(folder.resolve("out.data"), new byte[100]);
        assertEquals(Action.NOTHING_SAVED, recover(RecoverOptions.DEFAULT).action());
    }

    @Test
    void oneOfSeveralOutputsIsChosen() throws Exception {
        whole(ONE, Layout.PAIRED);
        whole(TWO, Layout.PAIRED);
        FaroException e = refuse(ErrorCode.INVALID_ARGUMENT, RecoverOptions.DEFAULT);
        assertTrue(e.getMessage().contains(X) && e.getMessage().contains(Y), e.getMessage());
        refuse(ErrorCode.IO, named("00000000"));
        refuse(ErrorCode.INVALID_ARGUMENT, named("0A1B2C3D"));
        assertEquals(new RecoverReport(Action.PUBLISHED, Y, 3), recover(named(Y)));
        assertEquals(3, Outputs.check(name(), Layout.PAIRED).regions());
        assertEquals(4, Outputs.names(folder).size());
    }

    @Test
    void withoutAnyFilesThereIsNothingToRecover() throws Exception {
        refuse(ErrorCode.IO, RecoverOptions.DEFAULT);
        // A file of another NAME that begins in the same way.
        Files.write(folder.resolve("out.data.data.0a1b2c3d.tmp"), new byte[100]);
        Files.write(folder.resolve("other.data.0a1b2c3d.tmp"), new byte[100]);
        Files.write(folder.resolve("out.data.0A1B2C3D.tmp"), new byte[100]);
        refuse(ErrorCode.IO, RecoverOptions.DEFAULT);
    }

    @Test
    void anotherOutputIsReplacedOnlyWithOverwrite() throws Exception {
        for (Layout layout : Layout.values()) {
            whole(ONE, layout);
            Path taken = Outputs.files(name(), layout).get(layout == Layout.SINGLE ? 0 : 1);
            Files.writeString(taken, "another's");
            refuse(ErrorCode.IO, RecoverOptions.DEFAULT);
            assertEquals(new RecoverReport(Action.PUBLISHED, X, 3), recover(OVERWRITE));
            check(layout, 3, ONE);
            clear();
        }
    }

    /** A refused repair leaves everything as it was, here an index that is damaged in the middle. */
    @Test
    void damageIsRefused() throws Exception {
        whole(ONE, Layout.PAIRED);
        byte[] bytes = Files.readAllBytes(temporary(".index"));
        bytes[100] ^= 1;
        bytes[bytes.length - 1] ^= 1;
        Files.write(temporary(".index"), bytes);
        refuse(ErrorCode.CHECKSUM, RecoverOptions.DEFAULT);
    }

    @Test
    void aLivingWriterOfThisProcessIsLeftAlone() throws Exception {
        for (Layout layout : Layout.values()) {
            for (boolean follow : new boolean[] {false, true}) {
                WriterOptions options = new WriterOptions(3).layout(layout).fileId(ONE).follow(follow);
                try (Writer writer = Writer.create(name(), options); OtherProcess other = OtherProcess.start()) {
                    writer.write(1, Outputs.bytes("one"));
                    writer.flush();
                    assertTrue(refuse(ErrorCode.IO, RecoverOptions.DEFAULT).getMessage().contains("living writer"));
                    refuse(ErrorCode.IO, named(X));
                    for (String file : Outputs.names(folder)) {
                        assertEquals("locked", other.ask("probe", folder.resolve(file)), "inspecting it lost its lock");
                    }
                    if (!follow) {
                        // A dead writer's output next to it is found.
                        whole(TWO, layout);
                        assertEquals(Y, Recover.recover(name(), RecoverOptions.DEFAULT).fileId());
                        for (Path file : Outputs.files(name(), layout)) {
                            Files.delete(file);
                        }
                    }
                    writer.finish();
                }
                check(layout, 1, ONE);
                clear();
            }
        }
    }

    @Test
    void aLivingWriterOfAnotherProcessIsLeftAlone() throws Exception {
        for (boolean follow : new boolean[] {false, true}) {
            try (OtherProcess other = OtherProcess.start()) {
                assertEquals("written", other.ask("write", name(), ONE, Layout.PAIRED, follow, 2));
                refuse(ErrorCode.IO, RecoverOptions.DEFAULT);
                refuse(ErrorCode.IO, named(X));
                if (follow) {
                    try (Follower follower = Follower.open(name(), ReaderOptions.DEFAULT)) {
                        follower.poll();
                        assertEquals(2, follower.regionCount());
                    }
                }
                other.kill();
            }
            assertEquals(new RecoverReport(Action.LAST_COMMIT, X, 2), recover(RecoverOptions.DEFAULT));
            check(Layout.PAIRED, 2, ONE);
            clear();
        }
    }

    /** The endings of PUB-1 choose the layout. */
    @Test
    void theEndingChoosesTheLayout() throws Exception {
        whole(ONE, Layout.PAIRED);
        whole(TWO, Layout.SINGLE);
        refuse(ErrorCode.INVALID_ARGUMENT, RecoverOptions.DEFAULT);
        byte[] single = Files.readAllBytes(folder.resolve("out.faro." + Y + ".tmp"));
        assertEquals(X, Recover.recover(folder.resolve("out.index"), RecoverOptions.DEFAULT).fileId());
        assertEquals(Y, Recover.recover(folder.resolve("out.faro"), RecoverOptions.DEFAULT).fileId());
        assertArrayEquals(single, Files.readAllBytes(folder.resolve("out.faro")));
        assertEquals(3, Outputs.check(name(), Layout.PAIRED).regions());
    }
}
