package dev.faro.repair;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileRole;
import dev.faro.internal.storage.PublishingLock;
import dev.faro.repair.CleanReport.KeptFile;
import dev.faro.repair.CleanReport.KeptReason;
import dev.faro.testing.OtherProcess;
import dev.faro.testing.Outputs;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What clean removes from a folder, and what it keeps (PUB-9). */
@Timeout(60)
class CleanTest {
    private static final UUID ID = new UUID(0x0a1b2c3d_0000_4000L, 1);
    private static final CleanOptions AT_ONCE = CleanOptions.DEFAULT.withOlderThan(Duration.ZERO);

    @TempDir
    Path folder;

    /** The header of a file with {@link #ID}. */
    private byte[] header;

    @BeforeEach
    void makeHeader(@TempDir Path other) throws Exception {
        try (Writer writer = Writer.create(other.resolve("h.faro"), new WriterOptions(1).fileId(ID))) {
            writer.finish();
        }
        header = Files.readAllBytes(other.resolve("h.faro"));
    }

    /** Cleans, after a dry run that must report the same. */
    private CleanReport clean(CleanOptions options) throws Exception {
        List<String> before = Outputs.names(folder);
        CleanReport dry = Clean.clean(folder, CleanOptions.DEFAULT.withOlderThan(options.olderThan()).withDryRun(true));
        assertEquals(before, Outputs.names(folder));
        CleanReport report = Clean.clean(folder, options);
        assertEquals(dry, report);
        return report;
    }

    private void make(String name, byte[] bytes) throws Exception {
        Files.write(folder.resolve(name), bytes);
    }

    /** Rules 1 and 2: names, and contents that fit the names. */
    @Test
    void onlyFilesOfDeadWritersAreRemoved() throws Exception {
        List<String> dead = List.of("a.data.0a1b2c3d.tmp", "a.faro-lock", "a.faro.0a1b2c3d.tmp", "a.index.0a1b2c3d.tmp",
                "a.index.rebuild.tmp", "b.data.12345678.tmp", "b.index.rebuild.tmp", "c.faro.00000000.tmp");
        List<String> others = List.of("a.data", "a.index", "a.faro", "a.data.0a1b2c3d", "a.data.0A1B2C3D.tmp",
                "a.data.0a1b2c3.tmp", "a.other.0a1b2c3d.tmp", "a.tmp", "d.data.0a1b2c3e.tmp", "e.data.0a1b2c3d.tmp",
                "e.faro-lock", "e.index.rebuild.tmp", "link.data.0a1b2c3d.tmp", "folder.data.0a1b2c3d.tmp");
        for (String name : dead) {
            make(name, header);
        }
        make("a.faro-lock", new byte[0]);
        // Files shorter than a header are removed whatever their X.
        make("b.data.12345678.tmp", new byte[0]);
        make("b.index.rebuild.tmp", new byte[63]);
        make("c.faro.00000000.tmp", new byte[1]);
        for (String name : others) {
            make(name, header);
        }
        // These are not Faro's.
        make("e.data.0a1b2c3d.tmp", new byte[64]);
        make("e.index.rebuild.tmp", new byte[100]);
        make("e.faro-lock", new byte[1]);
        Files.delete(folder.resolve("link.data.0a1b2c3d.tmp"));
        Files.createSymbolicLink(folder.resolve("link.data.0a1b2c3d.tmp"), folder.resolve("a.data"));
        Files.delete(folder.resolve("folder.data.0a1b2c3d.tmp"));
        Files.createDirectory(folder.resolve("folder.data.0a1b2c3d.tmp"));
        make("folder.data.0a1b2c3d.tmp/a.data.0a1b2c3d.tmp", header);
        assertEquals(new CleanReport(dead, List.of()), clean(AT_ONCE));
        assertEquals(others.stream().sorted().toList(), Outputs.names(folder));
        assertEquals(1, Outputs.names(folder.resolve("folder.data.0a1b2c3d.tmp")).size());
    }

    /** Rule 3. */
    @Test
    void recentlyChangedFilesAreKept() throws Exception {
        make("old.data.0a1b2c3d.tmp", header);
        make("young.data.0a1b2c3d.tmp", header);
        make("young.faro-lock", new byte[0]);
        make("young.other", header);
        Files.setLastModifiedTime(
                folder.resolve("old.data.0a1b2c3d.tmp"), FileTime.from(Instant.now().minusSeconds(3601)));
        Files.setLastModifiedTime(
                folder.resolve("young.data.0a1b2c3d.tmp"), FileTime.from(Instant.now().minusSeconds(3500)));
        assertEquals(new CleanReport(List.of("old.data.0a1b2c3d.tmp"),
                List.of(new KeptFile("young.data.0a1b2c3d.tmp", KeptReason.YOUNG),
                        new KeptFile("young.faro-lock", KeptReason.YOUNG))),
                clean(CleanOptions.DEFAULT));
        assertEquals(List.of("young.data.0a1b2c3d.tmp"),
                clean(CleanOptions.DEFAULT.withOlderThan(Duration.ofSeconds(3000))).removed());
        assertEquals(1, clean(CleanOptions.DEFAULT.withOlderThan(Duration.ofSeconds(Long.MAX_VALUE))).kept().size());
        FaroException e = assertThrows(
                FaroException.class, () -> Clean.clean(folder, CleanOptions.DEFAULT
                        .withOlderThan(Duration.ofNanos(-1))));
        assertEquals(ErrorCode.INVALID_ARGUMENT, e.code());
    }

    /** Rule 4, with a writer of this process, which keeps its locks, and one of another process, until that dies. */
    @Test
    void filesOfALivingWriterAreKept() throws Exception {
        List<KeptFile> kept = List.of(new KeptFile("out.data.0a1b2c3d.tmp", KeptReason.LIVING),
                new KeptFile("out.index.0a1b2c3d.tmp", KeptReason.LIVING));
        try (OtherProcess other = OtherProcess.start()) {
            try (Writer writer = Writer.create(folder.resolve("out"), new WriterOptions(2).fileId(ID))) {
                writer.write(0, Outputs.bytes("x"));
                writer.flush();
                assertEquals(new CleanReport(List.of(), kept), clean(AT_ONCE));
                for (KeptFile file : kept) {
                    assertEquals("locked", other.ask("probe", folder.resolve(file.name())));
                }
                writer.finish();
            }
            assertEquals(new CleanReport(List.of(), List.of()), clean(AT_ONCE));
            assertEquals(List.of("out.data", "out.index"), Outputs.names(folder));
            Files.delete(folder.resolve("out.data"));
            Files.delete(folder.resolve("out.index"));
            assertEquals("written", other.ask("write", folder.resolve("out"), ID, Layout.PAIRED, false, 1));
            assertEquals(new CleanReport(List.of(), kept), clean(AT_ONCE));
            other.kill();
            assertEquals(new CleanReport(kept.stream().map(KeptFile::name).toList(), List.of()), clean(AT_ONCE));
        }
    }

    @Test
    void aHeldLockIsKept() throws Exception {
        Path path = folder.resolve("out.faro-lock");
        CleanReport living = new CleanReport(List.of(), List.of(new KeptFile("out.faro-lock", KeptReason.LIVING)));
        try (OtherProcess other = OtherProcess.start()) {
            new PublishingLock(FileRole.DATA, path, Duration.ofSeconds(5)).holding(() -> {
                assertEquals(living, Clean.clean(folder, AT_ONCE));
                assertEquals("locked", other.ask("probe", path));
            });
            assertEquals("held", other.ask("hold", path));
            assertEquals(living, clean(AT_ONCE));
            other.kill();
            assertEquals(List.of("out.faro-lock"), clean(AT_ONCE).removed());
        }
    }

    @Test
    void aMissingFolder() {
        FaroException e = assertThrows(FaroException.class, () -> Clean.clean(folder.resolve("nosuch"), AT_ONCE));
        assertEquals(ErrorCode.IO, e.code());
        assertTrue(e.getMessage().contains("list"), e.getMessage());
    }
}
