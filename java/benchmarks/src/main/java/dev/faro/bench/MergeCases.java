package dev.faro.bench;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;

/**
 * The part {@code merge}: blocks of many producers into one merged file, each a push of its own, beside the merge
 * manager of Spark's shuffle service and beside reading, checksums and writing alone. They take turns in this JVM.
 */
final class MergeCases {
    private static final int[] BLOCK_BYTES = {10_000, 100_000};
    private static final long BYTES = 256 << 20;
    private static final long QUICK_BYTES = 16 << 20;
    /** Passes before the clock counts, until the compiler is done. */
    private static final int WARM_UP = 5;

    private MergeCases() {}

    static List<ChainedOptionsBuilder> runs(Arguments arguments, Path folder) throws IOException {
        List<String> chosen = arguments.chosen(List.of("faro", "spark", "read-crc-write"));
        for (int blockBytes : BLOCK_BYTES) {
            long bytes = arguments.quick() ? QUICK_BYTES : BYTES;
            int blocks = (int) ((bytes + blockBytes - 1) / blockBytes);
            try {
                PushedBlocks pushed = PushedBlocks.make(
                        Files.createDirectories(folder.resolve("merge-" + blockBytes)), blockBytes, blocks);
                List<WriteSubject> subjects = List.<WriteSubject>of(
                        new MergeFaro(pushed), new MergeSpark(pushed), new MergeLimit(pushed));
                Rounds rounds = new Rounds(
                        subjects.stream().filter(subject -> chosen.contains(subject.name())).toList(), true);
                for (int i = 0; i < WARM_UP; i++) {
                    rounds.run(false);
                }
                for (int i = 0; i < (arguments.quick() ? 1 : arguments.repetitions()); i++) {
                    rounds.run(true);
                }
                ObjectNode which = JsonNodeFactory.instance.objectNode().put("block_bytes", blockBytes);
                rounds.report("merge", which, new Results(arguments.out()));
            } catch (IOException | RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new IOException("a subject failed", e);
            }
        }
        return List.of();
    }
}
