import dev.faro.ErrorFamily;
import dev.faro.FaroException;
import dev.faro.MemoryBudget;
import dev.faro.reader.Reader;
import dev.faro.scheduler.Scheduler;
import dev.faro.scheduler.SchedulerOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** Runs the tasks of a shuffle, and decides what to do when one of them fails. */
final class Driver {
    /** Attempts of one map task, and rounds of reading; a fault that stays ends the job. */
    private static final int MOST_ATTEMPTS = 4;

    private final Path folder;
    private final EngineMemory memory;
    private final ExecutorService executor;
    private final Consumer<String> log;
    private final Map<Integer, AtomicInteger> attempts = new ConcurrentHashMap<>();
    /** The output of each map task: that of the attempt which finished first. */
    private final Map<Integer, MapOutput> outputs = new ConcurrentHashMap<>();
    /** The outputs that the system could not read once. */
    private final Set<MapOutput> unreadable = new HashSet<>();

    Driver(Path folder, EngineMemory memory, ExecutorService executor, Consumer<String> log) {
        this.folder = folder;
        this.memory = memory;
        this.executor = executor;
        this.log = log;
    }

    Map<Integer, MapOutput> outputs() {
        return outputs;
    }

    /**
     * Runs map tasks, and waits for all of them. A number that is there twice runs speculatively: the first attempt to
     * finish wins.
     */
    void runMaps(List<Integer> maps) throws IOException, InterruptedException {
        List<Future<?>> running = new ArrayList<>();
        for (int map : maps) {
            running.add(executor.submit(() -> {
                produce(map);
                return null;
            }));
        }
        IOException failure = null;
        for (Future<?> task : running) {
            try {
                task.get();
            } catch (ExecutionException e) {
                failure = new IOException("a map task failed", e.getCause());
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    private void produce(int map) throws IOException, InterruptedException {
        MapOutput output = write(map);
        MapOutput first = outputs.putIfAbsent(map, output);
        if (first != null) {
            log.accept(output + " lost to " + first + " and is removed");
            output.remove();
        }
    }

    private MapOutput write(int map) throws IOException, InterruptedException {
        while (true) {
            int attempt = attempts.computeIfAbsent(map, key -> new AtomicInteger()).incrementAndGet();
            try {
                return MapTask.run(map, attempt, folder, memory);
            } catch (FaroException e) {
                if (e.code().family() != ErrorFamily.ENVIRONMENT || attempt >= MOST_ATTEMPTS) {
                    throw e;
                }
                log.accept("map-" + map + ".attempt-" + attempt + " failed, and is repeated: " + e.getMessage());
            }
        }
    }

    /**
     * Runs a reduce task for each partition. If one cannot read an output, its map task runs again where that helps,
     * and the reduce task is repeated.
     *
     * @return the totals of the partitions whose tasks were not cancelled
     */
    Map<Integer, Rows.Totals> runReduces(ReduceTask.Progress progress) throws IOException, InterruptedException {
        Map<Integer, Rows.Totals> totals = new TreeMap<>();
        List<Integer> left = largestFirst();
        for (int round = 1; !left.isEmpty(); round++) {
            List<Integer> repeated = new ArrayList<>();
            Set<Integer> lost = new TreeSet<>();
            read(left, progress, totals, repeated, lost);
            if (!repeated.isEmpty() && round == MOST_ATTEMPTS) {
                throw new IOException("partitions " + repeated + " cannot be read after " + round + " rounds");
            }
            for (int map : lost) {
                outputs.remove(map).remove();
            }
            runMaps(List.copyOf(lost));
            lost.forEach(map -> log.accept(outputs.get(map) + " takes its place"));
            left = repeated;
        }
        return totals;
    }

    /** The partitions by what the summaries say of their sizes, since the longest task should begin first. */
    private List<Integer> largestFirst() {
        List<Integer> partitions = new ArrayList<>();
        for (int i = 0; i < Rows.PARTITIONS; i++) {
            partitions.add(i);
        }
        Comparator<Integer> bySize = Comparator.comparingLong(
                partition -> outputs.values().stream().mapToLong(output -> output.storedBytes(partition)).sum());
        partitions.sort(bySize.reversed());
        return partitions;
    }

    /** Runs reduce tasks once, over one scheduler. */
    private void read(List<Integer> partitions, ReduceTask.Progress progress, Map<Integer, Rows.Totals> totals,
            List<Integer> repeated, Set<Integer> lost) throws IOException, InterruptedException {
        Map<MapOutput, Reader> readers = new HashMap<>();
        List<ReduceTask> tasks = new ArrayList<>();
        // What is read at once is at most an extent, and an extent is at most a region: a sort buffer and its framing.
        try (TaskMemory reading = memory.reserve(2L * MapTask.BUFFER_SIZE);
                Scheduler scheduler = new Scheduler(
                        SchedulerOptions.DEFAULT.withMemoryBudget(reading), executor, reading)) {
            Runnable wake = scheduler::wake;
            memory.addRoomListener(wake);
            try {
                if (!openAll(readers, reading, lost)) {
                    repeated.addAll(partitions);
                    return;
                }
                for (int partition : partitions) {
                    tasks.add(new ReduceTask(partition, readers, scheduler, executor, progress));
                }
                tasks.forEach(ReduceTask::start);
                for (ReduceTask task : tasks) {
                    collect(task, totals, repeated, lost);
                }
            } finally {
                end(tasks, readers);
                memory.removeRoomListener(wake);
            }
        }
    }

    /** Opens all outputs; false if there was a fault. */
    private boolean openAll(Map<MapOutput, Reader> readers, MemoryBudget reading, Set<Integer> lost)
            throws FaroException {
        for (MapOutput output : outputs.values()) {
            try {
                readers.put(output, output.open(reading));
            } catch (FaroException e) {
                judge(new InputFault(output, e), lost);
            }
        }
        return readers.size() == outputs.size();
    }

    private void collect(ReduceTask task, Map<Integer, Rows.Totals> totals, List<Integer> repeated, Set<Integer> lost)
            throws IOException, InterruptedException {
        try {
            totals.put(task.partition(), task.result().get());
        } catch (CancellationException e) {
            log.accept("reduce-" + task.partition() + " was cancelled");
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof InputFault fault)) {
                throw new IOException("reduce-" + task.partition() + " failed", e.getCause());
            }
            log.accept("reduce-" + task.partition() + " stopped: " + fault.fault().getMessage());
            judge(fault, lost);
            repeated.add(task.partition());
        }
    }

    /** Decides by the family of a fault (ERR-5) whether the producer has to run again. */
    private void judge(InputFault fault, Set<Integer> lost) throws FaroException {
        ErrorFamily family = fault.fault().code().family();
        switch (family) {
            case FILE -> {
                log.accept(fault.output() + " has a fault of the family " + family + ": its map task runs again");
                lost.add(fault.output().map());
            }
            case ENVIRONMENT -> {
                // The system may have been busy. At the second time the files may be gone, with their disk.
                if (unreadable.add(fault.output())) {
                    log.accept(fault.output() + " is read again");
                } else {
                    lost.add(fault.output().map());
                }
            }
            case LIMIT, CALLER -> throw fault.fault();
        }
    }

    /** Ends all tasks, even after an error, then closes the readers that they share. */
    private static void end(List<ReduceTask> tasks, Map<MapOutput, Reader> readers) throws IOException {
        tasks.forEach(ReduceTask::cancel);
        for (ReduceTask task : tasks) {
            task.result().handle((totals, fault) -> null).join();
        }
        for (Reader reader : readers.values()) {
            reader.close();
        }
    }

    void removeOutputs() throws IOException {
        for (MapOutput output : outputs.values()) {
            output.remove();
        }
        outputs.clear();
    }
}
