import dev.faro.reader.BlockCursor;
import dev.faro.reader.Reader;
import dev.faro.repair.Clean;
import dev.faro.repair.CleanOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * An executor of a small shuffle, in a folder that is empty or does not exist: map tasks write under one limit of
 * memory, one of them runs twice, an output is damaged, a reduce task is cancelled. The results are compared with those
 * of a model.
 *
 * <p>{@code java -cp CLASS_PATH Main FOLDER}
 */
final class Main {
    private static final int THREADS = 2;
    /** The map task that runs speculatively. */
    private static final int SPECULATIVE = 5;
    /** The map task whose output is damaged, and the partition in which. */
    private static final int DAMAGED = 3;
    private static final int DAMAGED_PARTITION = 1;
    private static final int CANCELLED_PARTITION = 2;
    /** The memory that tasks share beyond their own parts, in bytes: less than one sort buffer. */
    private static final long SHARED_MEMORY = 1 << 20;

    private Main() {}

    public static void main(String[] arguments) throws Exception {
        Path folder = Files.createDirectories(Path.of(arguments[0]));
        EngineMemory memory = new EngineMemory(THREADS * MapTask.leastMemory() + SHARED_MEMORY);
        ExecutorService executor = Executors.newFixedThreadPool(THREADS);
        try {
            run(folder, memory, new Driver(folder, memory, executor, Main::print));
        } finally {
            executor.shutdownNow();
        }
    }

    private static void run(Path folder, EngineMemory memory, Driver driver) throws Exception {
        driver.runMaps(List.of(0, 1, 2, 3, 4, SPECULATIVE, SPECULATIVE));
        for (MapOutput output : driver.outputs().values()) {
            print("%s: %,d bytes, %d regions, %d spills", output,
                    output.summary().dataBytes() + output.summary().indexBytes(), output.summary().regions(),
                    output.spills());
        }
        damage(driver.outputs().get(DAMAGED));

        Map<Integer, Rows.Totals> totals = driver.runReduces(task -> {
            if (task.partition() == CANCELLED_PARTITION) {
                task.cancel();
            }
        });
        List<Rows.Totals> model = Rows.model();
        totals.forEach((partition, found) -> {
            check(found.equals(model.get(partition)), "partition " + partition + " has " + found);
            print("partition %d: %,d rows, sum %d, as in the model", partition, found.rows(), found.sum());
        });
        check(totals.size() == Rows.PARTITIONS - 1, totals.size() + " partitions were read");

        driver.removeOutputs();
        // Nothing of a dead writer is expected here. An engine does this when it starts, with the default age.
        Clean.clean(folder, CleanOptions.DEFAULT.withOlderThan(Duration.ZERO));
        try (var left = Files.list(folder)) {
            List<Path> names = left.toList();
            check(names.isEmpty(), "left in the folder: " + names);
        }
        check(memory.granted() == 0 && memory.segmentsInUse() == 0,
                memory.granted() + " bytes and " + memory.segmentsInUse() + " segments were not given back");
        print("memory: at most %,d of %,d bytes, refused %d times, all given back; the folder is empty",
                memory.mostGranted(), memory.limit(), memory.refusals());
    }

    /** Flips a byte of a payload, as a bad disk would. */
    private static void damage(MapOutput output) throws IOException {
        long offset;
        try (Reader reader = output.open(null); BlockCursor blocks = reader.partition(DAMAGED_PARTITION)) {
            check(blocks.next(), output + " has no block to damage");
            offset = blocks.offset() + 100;
        }
        try (FileChannel file = FileChannel.open(
                output.summary().files().get(0), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            ByteBuffer one = ByteBuffer.allocate(1);
            file.read(one, offset);
            file.write(one.put(0, (byte) ~one.get(0)).flip(), offset);
        }
    }

    private static void check(boolean holds, String found) {
        if (!holds) {
            throw new IllegalStateException(found);
        }
    }

    private static void print(String text, Object... values) {
        // Tasks report from several threads.
        synchronized (Main.class) {
            System.out.println(values.length == 0 ? text : String.format(Locale.ROOT, text, values));
        }
    }
}
