package dev.faro.writer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.follow.Follower;
import dev.faro.repair.Repair;
import dev.faro.repair.RepairOptions;
import dev.faro.repair.RepairReport;
import dev.faro.testing.Outputs;
import dev.faro.testing.RecordingFileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** The system calls of a writer, and their order. If any of them is refused, the writer fails. */
class SystemCallsTest {
    private final RecordingFileSystem system = new RecordingFileSystem();

    @TempDir
    Path folder;

    private static void writeTwoRegions(Writer writer) throws FaroException {
        writer.write(0, Outputs.bytes("one"));
        writer.flush();
        writer.write(1, Outputs.bytes("two"));
        writer.finish();
    }

    private static WriterOptions options(Layout layout) {
        return new WriterOptions(2).layout(layout).fileId(new UUID(0x0102030400000000L, 0));
    }

    /** The calls of a whole output; the number of pieces in which something is written does not matter. */
    private List<String> callsOf(WriterOptions options) throws Exception {
        system.refuse(-1);
        try (Writer writer = Writer.create(system.path(folder).resolve("out"), options.overwrite(true))) {
            writeTwoRegions(writer);
        }
        List<String> calls = new ArrayList<>();
        for (String call : system.calls()) {
            String plain = call.replace(".01020304", "").replace(folder.getFileName().toString(), "FOLDER");
            if (calls.isEmpty() || !calls.get(calls.size() - 1).equals(plain)) {
                calls.add(plain);
            }
        }
        return calls;
    }

    private static List<String> concat(List<String> first, List<String> second, List<String> third) {
        return Stream.of(first, second, third).flatMap(List::stream).toList();
    }

    @Test
    void blocksAreSyncedBeforeTheirMessageAndFilesBeforeTheirNames() throws Exception {
        List<String> region =
                List.of("write out.data.tmp", "sync out.data.tmp", "write out.index.tmp", "sync out.index.tmp");
        // The footer goes to the index file; of the data file, only what is not synced yet would be written.
        List<String> end = List.of("sync out.data.tmp", "write out.index.tmp", "sync out.index.tmp",
                "rename to out.data", "rename to out.index", "sync FOLDER");
        assertEquals(concat(region, region, end), callsOf(options(Layout.PAIRED).durability(Durability.COMMIT)));
        region = List.of("write out.faro.tmp", "sync out.faro.tmp", "write out.faro.tmp", "sync out.faro.tmp");
        end = List.of("write out.faro.tmp", "sync out.faro.tmp", "rename to out.faro", "sync FOLDER");
        assertEquals(concat(region, region, end), callsOf(options(Layout.SINGLE).durability(Durability.COMMIT)));
        // Followed files have their final names already.
        List<String> calls = callsOf(options(Layout.PAIRED).durability(Durability.COMMIT).follow(true));
        assertFalse(calls.stream().anyMatch(call -> call.startsWith("rename")), calls.toString());
        assertEquals(List.of("sync out.data", "write out.index", "sync out.index", "sync FOLDER"),
                calls.subList(calls.size() - 4, calls.size()));
    }

    @Test
    void withoutDurabilityNothingIsSyncedAndDataGetsItsNameFirst() throws Exception {
        List<String> calls = callsOf(options(Layout.PAIRED));
        assertFalse(calls.stream().anyMatch(call -> call.startsWith("sync")), calls.toString());
        assertEquals(List.of("rename to out.data", "rename to out.index"),
                calls.subList(calls.size() - 2, calls.size()));
    }

    /** Writes with one call refused. Returns the error, or null if there are fewer calls. */
    private FaroException failAt(int refused, Writer writer) throws FaroException {
        system.refuse(refused);
        try {
            writeTwoRegions(writer);
            assertTrue(system.calls().size() <= refused, "call " + refused + " failed without an error");
            return null;
        } catch (FaroException e) {
            assertEquals(ErrorCode.IO, e.code());
            return e;
        } finally {
            system.refuse(-1);
        }
    }

    @Test
    void everyRefusedCallFailsTheWriterForGoodAndLeavesNothing() throws Exception {
        for (Layout layout : Layout.values()) {
            for (Durability durability : Durability.values()) {
                int failures = 0;
                while (failsAndLeavesNothing(failures, options(layout).durability(durability), layout)) {
                    failures++;
                }
                assertTrue(failures >= 3, failures + " calls");
            }
        }
    }

    private boolean failsAndLeavesNothing(int refused, WriterOptions options, Layout layout) throws Exception {
        Path name = folder.resolve("fails" + layout + refused);
        try (Writer writer = Writer.create(system.path(name), options)) {
            FaroException first = failAt(refused, writer);
            if (first == null) {
                for (Path file : Outputs.files(name, layout)) {
                    Files.delete(file);
                }
                return false;
            }
            List<Executable> calls =
                    List.of(() -> writer.write(0, Outputs.bytes("x")), writer::flush, writer::finish, writer::region);
            for (Executable call : calls) {
                FaroException again = assertThrows(FaroException.class, call);
                assertEquals(first.getMessage(), again.getMessage());
            }
            assertFalse(Outputs.files(name, layout).stream().anyMatch(Files::exists), "call " + refused);
            if (refused % 2 == 0) {
                writer.abort();
                writer.abort();
            }
        }
        assertEquals(List.of(), Outputs.names(folder), "call " + refused);
        return true;
    }

    /** Whichever call is refused, also a sync of the tail or of the folder: a follower waits, and repair works. */
    @Test
    void aFailedWriterThatOthersFollowLooksUnfinished() throws Exception {
        for (Layout layout : Layout.values()) {
            for (Durability durability : Durability.values()) {
                int failures = 0;
                WriterOptions options = options(layout).durability(durability).follow(true);
                while (failsAndLooksUnfinished(failures, options, layout)) {
                    failures++;
                }
                assertTrue(failures >= 3, failures + " calls");
            }
        }
    }

    private boolean failsAndLooksUnfinished(int refused, WriterOptions options, Layout layout) throws Exception {
        Path name = folder.resolve("followed");
        try (Writer writer = Writer.create(system.path(name), options)) {
            if (failAt(refused, writer) == null) {
                for (Path file : Outputs.files(name, layout)) {
                    Files.delete(file);
                }
                return false;
            }
            String where = layout + ", call " + refused;
            FaroException e = assertThrows(FaroException.class, () -> Outputs.open(name, layout), where);
            assertEquals(ErrorCode.UNFINISHED, e.code(), where);
            int committed;
            try (Follower follower = Outputs.follow(name, layout)) {
                assertFalse(follower.poll(), where);
                committed = follower.regionCount();
            }
            List<Path> files = Outputs.files(name, layout);
            RepairReport report = layout == Layout.SINGLE
                    ? Repair.repairSingle(files.get(0), RepairOptions.DEFAULT)
                    : Repair.repairPair(files.get(0), files.get(1), RepairOptions.DEFAULT);
            assertEquals(committed, report.regions(), where);
            assertEquals(committed, Outputs.check(name, layout).regions(), where);
        }
        assertEquals(List.of(), Outputs.names(folder));
        return true;
    }
}
