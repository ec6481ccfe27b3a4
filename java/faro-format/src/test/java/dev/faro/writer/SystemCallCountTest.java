package dev.faro.writer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.faro.testing.TinyOutputs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The system calls about files that a tiny output costs, as strace counts them: created, finished and opened, both
 * partitions read, closed and removed. {@link SystemCallsTest} has the calls of the library, which the JDK multiplies.
 */
class SystemCallCountTest {
    private static final int OUTPUTS = 40;
    /** Calls of memory that strace counts with those of descriptors. */
    private static final Set<String> NOT_OF_FILES = Set.of("mmap", "munmap");
    /** The JDK makes the fstat for a lock's table, and the second fcntl with a close or a release. */
    private static final List<String> SINGLE = List.of("stat", "open", "stat", "stat", "fcntl", "stat", "pwrite",
            "link", "unlink", "fcntl", "close", "unlink");

    @TempDir
    Path folder;

    @Test
    void aSingleFile() throws Exception {
        assertEquals(SINGLE, calls(Layout.SINGLE));
    }

    @Test
    void aPair() throws Exception {
        List<String> calls = calls(Layout.PAIRED);
        assertTrue(calls.size() <= 25, calls.size() + " calls: " + calls);
    }

    /** The calls of one of the last outputs: the fewest, because the JVM still reads classes now and then. */
    private List<String> calls(Layout layout) throws Exception {
        Path trace = folder.resolve("trace");
        List<String> command = List.of("strace", "-f", "-e", "trace=%file,%desc", "-e", "signal=none",
                "-o", trace.toString(), Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
                System.getProperty("java.class.path"), TinyOutputs.class.getName(), folder.toString(),
                layout.toString(), String.valueOf(OUTPUTS));
        Process process = start(command);
        assumeTrue(process != null, "not counted: there is no strace");
        String said = new String(process.getInputStream().readAllBytes());
        assertTrue(process.waitFor(1, TimeUnit.MINUTES));
        assumeTrue(process.exitValue() == 0 || !said.contains("ptrace"), "not counted: strace may not trace here");
        assertEquals(0, process.exitValue(), said);
        List<List<String>> outputs = outputs(Files.readAllLines(trace));
        assertEquals(OUTPUTS + 1, outputs.size());
        return outputs.subList(OUTPUTS - 10, OUTPUTS).stream().min(Comparator.comparing(List::size)).orElseThrow();
    }

    private static Process start(List<String> command) {
        try {
            return new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            return null;
        }
    }

    /** The names of the calls after each mark, by the thread that made the marks. */
    private static List<List<String>> outputs(List<String> lines) {
        List<List<String>> outputs = new ArrayList<>();
        String thread = null;
        for (String line : lines) {
            String[] parts = line.split(" +|\\(", 3);
            if (line.contains(TinyOutputs.MARK)) {
                thread = parts[0];
                outputs.add(new ArrayList<>());
            } else if (parts[0].equals(thread) && !NOT_OF_FILES.contains(parts[1]) && !parts[1].equals("<...")) {
                outputs.get(outputs.size() - 1).add(plain(parts[1]));
            }
        }
        return outputs;
    }

    /** The name without what distinguishes the variants of one call. */
    private static String plain(String call) {
        return switch (call) {
            case "statx", "newfstatat", "fstat", "lstat" -> "stat";
            case "openat" -> "open";
            case "pwrite64" -> "pwrite";
            default -> call;
        };
    }
}
