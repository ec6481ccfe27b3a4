package dev.faro.spark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * What this process and those that it has started have used, since the processes began. One that has ended does not count.
 *
 * @param cpuNanos of all threads
 * @param writtenBytes that were handed to the system, into files and otherwise
 * @param peakBytes the most memory of each process, of all together
 */
record ProcessTree(long cpuNanos, long writtenBytes, long peakBytes) {
    private static Stream<ProcessHandle> processes() {
        return Stream.concat(Stream.of(ProcessHandle.current()), ProcessHandle.current().descendants());
    }

    static ProcessTree now() throws IOException {
        long cpu = 0;
        long written = 0;
        long peak = 0;
        for (ProcessHandle process : processes().toList()) {
            cpu += process.info().totalCpuDuration().orElse(Duration.ZERO).toNanos();
            written += figure(process, "io", "wchar:");
            peak += figure(process, "status", "VmHWM:") << 10;
        }
        return new ProcessTree(cpu, written, peak);
    }

    /** Lets the peaks begin with what is in use now. */
    static void resetPeaks() throws IOException {
        for (ProcessHandle process : processes().toList()) {
            Files.writeString(file(process, "clear_refs"), "5");
        }
    }

    private static Path file(ProcessHandle process, String name) {
        return Path.of("/proc", String.valueOf(process.pid()), name);
    }

    private static long figure(ProcessHandle process, String file, String name) throws IOException {
        List<String> lines = Files.readAllLines(file(process, file));
        return lines.stream().filter(line -> line.startsWith(name))
                .mapToLong(line -> Long.parseLong(line.substring(name.length()).replace("kB", "").strip())).sum();
    }
}
