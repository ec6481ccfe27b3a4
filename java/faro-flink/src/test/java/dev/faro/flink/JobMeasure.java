package dev.faro.flink;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.Map;

/** The resources that a job uses while it runs: time, processor time, memory, and files of its shuffle. */
final class JobMeasure implements AutoCloseable {
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final int PAUSE_MILLISECONDS = 20;

    private final Path folder;
    private final Map<Path, Long> files = new HashMap<>();
    private final Thread sampler = new Thread(this::sample, "sampler");
    private final long begun = System.nanoTime();
    private final long cpuBegun = SYSTEM.getProcessCpuTime();
    private volatile boolean ended;
    private long peakHeap;
    private long peakDirect;

    /**
     * The measured values.
     *
     * @param nanos the time from begin to end
     * @param cpuNanos the processor time of all threads of this process
     * @param storedBytes the size of all files that were seen, each when it was last seen
     * @param indexBytes the size of the index files among them
     * @param files the number of files
     * @param peakHeap the maximum size of the heap in use, with garbage, in bytes
     * @param peakDirect the maximum size of direct buffers in bytes
     */
    record Taken(long nanos, long cpuNanos, long storedBytes, long indexBytes, int files, long peakHeap,
            long peakDirect) {}

    private JobMeasure(Path folder) {
        this.folder = folder;
    }

    /** Begins to measure, when the files of an earlier job are gone. */
    static JobMeasure begin(Path folder) throws IOException, InterruptedException {
        JobMeasure before = new JobMeasure(folder);
        do {
            Thread.sleep(PAUSE_MILLISECONDS);
            before.files.clear();
            Files.walkFileTree(folder, before.new Sizes());
        } while (!before.files.isEmpty());
        System.gc();
        JobMeasure measure = new JobMeasure(folder);
        measure.sampler.setDaemon(true);
        measure.sampler.start();
        return measure;
    }

    /** Ends the measurement; called once. */
    Taken end() throws InterruptedException {
        long nanos = System.nanoTime() - begun;
        long cpu = SYSTEM.getProcessCpuTime() - cpuBegun;
        close();
        sampler.join();
        long index = 0;
        long all = 0;
        for (Map.Entry<Path, Long> file : files.entrySet()) {
            all += file.getValue();
            index += file.getKey().toString().endsWith("index") ? file.getValue() : 0;
        }
        return new Taken(nanos, cpu, all - index, index, files.size(), peakHeap, peakDirect);
    }

    @Override
    public void close() {
        ended = true;
    }

    private void sample() {
        while (!ended) {
            peakHeap = Math.max(peakHeap, ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
            long direct = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                    .filter(pool -> pool.getName().equals("direct"))
                    .mapToLong(BufferPoolMXBean::getMemoryUsed).sum();
            peakDirect = Math.max(peakDirect, direct);
            try {
                Files.walkFileTree(folder, new Sizes());
                Thread.sleep(PAUSE_MILLISECONDS);
            } catch (IOException | InterruptedException e) {
                return;
            }
        }
    }

    /** Looks at the files of a shuffle, which appear and disappear meanwhile. */
    private final class Sizes extends SimpleFileVisitor<Path> {
        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (file.toString().contains("shuffle")) {
                // Faro's files get their names when they are finished.
                files.put(Path.of(file.toString().replaceAll("\\.[0-9a-f]{8}\\.tmp$", "")), attributes.size());
            }
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException gone) {
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path path, IOException gone) {
            return FileVisitResult.CONTINUE;
        }
    }
}
