package dev.faro.bench;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.faro.codec.Codec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;

/**
 * The part {@code tiny-outputs}: outputs of 100 bytes for two partitions, from their creation to their removal, beside
 * a plain file without checks and a partition of Flink. One program takes turns with all of them, so this part measures
 * in this JVM.
 */
final class TinyOutputsCases {
    private static final int OUTPUTS = 20_000;
    private static final int QUICK_OUTPUTS = 500;
    /** The memory of Flink's sort buffer and of its pool, in bytes. */
    private static final long FLINK_BYTES = 2 << 20;
    /** Passes before the clock counts: with four subjects in turns, the compiler still changes the code in the fourth. */
    private static final int WARM_UP = 5;

    private TinyOutputsCases() {}

    /** One subject: makes outputs, one after another. */
    private static final class Repeated implements WriteSubject {
        private final TinyOutputs.Kind kind;
        private final TinyOutputs outputs;
        private final int count;
        private final List<Long> nanos = new ArrayList<>();

        Repeated(TinyOutputs.Kind kind, TinyOutputs outputs, int count) {
            this.kind = kind;
            this.outputs = outputs;
            this.count = count;
        }

        @Override
        public String name() {
            return kind.toString();
        }

        @Override
        public long plainBytes() {
            return (long) count * TinyOutputs.PARTITIONS * TinyOutputs.RECORD;
        }

        @Override
        public Outcome write() throws Exception {
            long begin = System.nanoTime();
            for (int i = 0; i < count; i++) {
                outputs.one(kind);
            }
            nanos.add(System.nanoTime() - begin);
            return new Outcome(nanos.get(nanos.size() - 1), 0, 0, 0);
        }

        @Override
        public void clear() {}

        /** The median of the measured passes, in microseconds for one output. */
        private double microseconds() {
            long[] measured = nanos.stream().skip(WARM_UP).mapToLong(Long::longValue).sorted().toArray();
            return measured[measured.length / 2] / 1e3 / count;
        }

        @Override
        public ObjectNode figures() {
            return JsonNodeFactory.instance.objectNode().put("microseconds_each", microseconds());
        }
    }

    static List<ChainedOptionsBuilder> runs(Arguments arguments, Path folder) throws IOException {
        int count = arguments.quick() ? QUICK_OUTPUTS : OUTPUTS;
        Path files = Files.createDirectories(folder.resolve("tiny-outputs"));
        try (FlinkPeer flink = new FlinkPeer(
                FlinkPeer.Kind.SORT, TinyOutputs.PARTITIONS, FLINK_BYTES, Codec.NONE)) {
            TinyOutputs outputs = new TinyOutputs(files, flink);
            List<String> chosen =
                    arguments.chosen(Arrays.stream(TinyOutputs.Kind.values()).map(Object::toString).toList());
            List<WriteSubject> subjects = new ArrayList<>();
            for (TinyOutputs.Kind kind : TinyOutputs.Kind.values()) {
                if (chosen.contains(kind.toString())) {
                    subjects.add(new Repeated(kind, outputs, count));
                }
            }
            Rounds rounds = new Rounds(subjects, false);
            for (int i = 0; i < WARM_UP; i++) {
                rounds.run(false);
            }
            for (int i = 0; i < (arguments.quick() ? 1 : arguments.repetitions()); i++) {
                rounds.run(true);
            }
            ObjectNode which = JsonNodeFactory.instance.objectNode().put("outputs", count)
                    .put("output_bytes", TinyOutputs.PARTITIONS * TinyOutputs.RECORD)
                    .put("partitions", TinyOutputs.PARTITIONS);
            rounds.report("tiny-outputs", which, new Results(arguments.out()));
            for (WriteSubject subject : subjects) {
                System.out.printf(Locale.ROOT, "%-12s %.1f us each%n", subject.name(),
                        subject.figures().get("microseconds_each").asDouble());
            }
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException("a subject failed", e);
        }
        return List.of();
    }
}
