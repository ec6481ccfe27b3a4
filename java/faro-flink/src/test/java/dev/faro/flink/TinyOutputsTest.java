package dev.faro.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What a tiny partition leaves on the disk, and the system calls about files that it makes. */
@Timeout(60)
class TinyOutputsTest {
    private static final int OUTPUTS = 40;
    /** The beginning of the name of a file that is looked for, in vain, before each output. */
    private static final String MARK = "mark-of-output-";
    /** Calls of memory that strace counts with those of descriptors. */
    private static final Set<String> NOT_OF_FILES = Set.of("mmap", "munmap");

    @TempDir
    Path folder;

    @Test
    void aBlockingPartitionIsOneFile() throws Exception {
        try (TinyOutputs tiny = new TinyOutputs(folder, 2)) {
            TinyOutputs.Cost cost = tiny.one(TinyOutputs.Kind.FARO, true);
            assertEquals(1, cost.files());
            assertTrue(cost.bytes() <= 2 * TinyOutputs.RECORD + 600, cost.toString());
        }
        assertNoFiles();
    }

    @Test
    void aSelectivePartitionHasNoFile() throws Exception {
        try (TinyOutputs tiny = new TinyOutputs(folder, 100)) {
            assertEquals(0, tiny.one(TinyOutputs.Kind.FARO_SELECTIVE, true).files());
        }
        assertNoFiles();
    }

    /** The thread of a channel reads what is in memory, and does not read files. */
    @ParameterizedTest
    @CsvSource({"FARO_FULL, 67108864, 0, 0", "FARO_SELECTIVE, 67108864, 0, 0", "FARO_FULL, 0, 100, 300"})
    void readsInMemoryNeedNoOtherThread(TinyOutputs.Kind kind, long memory, long least, long most) throws Exception {
        try (TinyOutputs tiny = new TinyOutputs(folder, 100, memory)) {
            tiny.one(kind, false);
            assertTrue(tiny.tasks() >= least && tiny.tasks() <= most, tiny.tasks() + " tasks");
        }
        assertNoFiles();
    }

    /** Threads that end at once are counted, too. Others in this process start some, so the least of three rounds counts. */
    @ParameterizedTest
    @CsvSource({"FARO, 67108864", "FARO_SELECTIVE, 67108864", "FARO_SELECTIVE, 0", "FARO_FULL, 67108864",
            "FARO_FULL, 0"})
    void outputsStartNoThreads(TinyOutputs.Kind kind, long memory) throws Exception {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        try (TinyOutputs tiny = new TinyOutputs(folder, 100, memory)) {
            // The threads that all outputs share start with the first.
            tiny.one(kind, false);
            long started = Long.MAX_VALUE;
            for (int round = 0; round < 3; round++) {
                long before = threads.getTotalStartedThreadCount();
                for (int i = 0; i < OUTPUTS; i++) {
                    tiny.one(kind, false);
                }
                started = Math.min(started, threads.getTotalStartedThreadCount() - before);
            }
            assertEquals(0, started);
        }
    }

    private void assertNoFiles() throws IOException {
        try (var files = Files.list(folder)) {
            assertEquals(List.of(), files.toList());
        }
    }

    /** The lines of strace for {@link Traced}. */
    private List<String> trace(TinyOutputs.Kind kind, String calls, int subpartitions) throws Exception {
        Path trace = folder.resolve("trace");
        Process process = start(List.of("strace", "-f", "-y", "-e", "trace=" + calls, "-e", "signal=none", "-o",
                trace.toString(), Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
                System.getProperty("java.class.path"), Traced.class.getName(), folder.toString(), kind.name(),
                String.valueOf(subpartitions)));
        assumeTrue(process != null, "not counted: there is no strace");
        String said = new String(process.getInputStream().readAllBytes());
        assertTrue(process.waitFor(1, TimeUnit.MINUTES));
        assumeTrue(process.exitValue() == 0 || !said.contains("ptrace"), "not counted: strace may not trace here");
        assertEquals(0, process.exitValue(), said);
        return Files.readAllLines(trace);
    }

    /** Full partitions write each byte once and read none, selective ones write none, as the system counts it. */
    @ParameterizedTest
    @EnumSource(value = TinyOutputs.Kind.class, names = {"FARO_FULL", "FARO_SELECTIVE"})
    void bytesWithMemoryEnough(TinyOutputs.Kind kind) throws Exception {
        Pattern call = Pattern.compile(
                "(read|write|pread64|pwrite64|readv|writev|preadv|pwritev)\\(\\d+<([^>]*)>.*?(?:, (\\d+))?\\) += (\\d+)");
        Map<String, Long> ends = new HashMap<>();
        for (String line : joined(trace(kind, "read,write,pread64,pwrite64,readv,writev,preadv,pwritev", 200))) {
            Matcher found = call.matcher(line);
            if (!found.find() || !found.group(2).startsWith(folder.toString())) {
                continue;
            }
            assertEquals("pwrite64", found.group(1), line);
            // Each write begins where the last one to that file ended.
            assertEquals(ends.getOrDefault(found.group(2), 0L), Long.parseLong(found.group(3)), line);
            ends.merge(found.group(2), Long.parseLong(found.group(4)), Long::sum);
        }
        assertEquals(kind == TinyOutputs.Kind.FARO_FULL ? 2 * OUTPUTS : 0, ends.size());
        long least = kind == TinyOutputs.Kind.FARO_FULL ? OUTPUTS * 200L * TinyOutputs.RECORD : 0;
        assertTrue(ends.values().stream().mapToLong(Long::longValue).sum() >= least);
    }

    /** Joins the two lines of a call in which another thread made one. */
    private static List<String> joined(List<String> lines) {
        List<String> joined = new ArrayList<>();
        Map<String, String> begun = new HashMap<>();
        for (String line : lines) {
            String thread = line.substring(0, line.indexOf(' '));
            int unfinished = line.indexOf(" <unfinished ...>");
            int resumed = line.indexOf(" resumed>");
            if (unfinished >= 0) {
                begun.put(thread, line.substring(0, unfinished));
            } else {
                joined.add(resumed < 0 ? line : begun.remove(thread) + line.substring(resumed + " resumed>".length()));
            }
        }
        return joined;
    }

    @ParameterizedTest
    @EnumSource(value = TinyOutputs.Kind.class, names = {"FARO", "FARO_SELECTIVE"})
    void systemCalls(TinyOutputs.Kind kind) throws Exception {
        List<String> calls = fewest(trace(kind, "%file,%desc", 2));
        // To create, write and close the file; and to look at it, and remove it.
        assertTrue(calls.size() <= (kind == TinyOutputs.Kind.FARO ? 5 : 0), calls::toString);
    }

    private static Process start(List<String> command) {
        try {
            return new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            return null;
        }
    }

    /** The calls between two marks, by the thread that made them: the fewest, because the JVM reads classes too. */
    private static List<String> fewest(List<String> lines) {
        List<List<String>> outputs = new ArrayList<>();
        String thread = null;
        for (String line : lines) {
            String[] parts = line.split(" +|\\(", 3);
            if (line.contains(MARK)) {
                thread = parts[0];
                outputs.add(new ArrayList<>());
            } else if (parts[0].equals(thread) && !NOT_OF_FILES.contains(parts[1]) && !parts[1].equals("<...")) {
                outputs.get(outputs.size() - 1).add(parts[1]);
            }
        }
        assertEquals(OUTPUTS + 1, outputs.size());
        return outputs.subList(OUTPUTS / 2, OUTPUTS).stream()
                .min((one, other) -> one.size() - other.size()).orElseThrow();
    }

    /** The program whose calls are counted. */
    static final class Traced {
        private Traced() {}

        /** Takes a folder, the kind of partition, and the number of subpartitions. */
        public static void main(String[] arguments) throws Exception {
            Path folder = Path.of(arguments[0]);
            try (TinyOutputs tiny = new TinyOutputs(folder, Integer.parseInt(arguments[2]))) {
                for (int i = 0; i < OUTPUTS; i++) {
                    Files.exists(folder.resolve(MARK + i));
                    tiny.one(TinyOutputs.Kind.valueOf(arguments[1]), false);
                }
                Files.exists(folder.resolve(MARK + OUTPUTS));
            }
        }
    }
}
