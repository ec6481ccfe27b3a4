package dev.faro.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/** The cases of the part {@code growth}: time and memory of Faro's writer when one quantity grows. */
final class GrowthCases {
    private static final Map<String, List<Integer>> CURVES = Map.of(
            "partitions", List.of(1, 10, 100, 1000, 10_000, 100_000),
            "record_bytes", List.of(16, 64, 256, 1 << 10, 4 << 10, 64 << 10),
            "data_mib", List.of(64, 256, 1024, 2048));

    private GrowthCases() {}

    static List<ChainedOptionsBuilder> runs(Arguments arguments, Path folder) {
        List<ChainedOptionsBuilder> runs = new ArrayList<>();
        CURVES.forEach((curve, values) -> {
            // A quick run measures only the ends of a curve.
            List<Integer> chosen = arguments.quick() ? List.of(values.get(0), values.get(values.size() - 1)) : values;
            for (int value : chosen) {
                if (arguments.wants(Map.of("curve", curve, curve, Integer.toString(value)))) {
                    runs.add(run(arguments, folder, curve, value));
                }
            }
        });
        return runs;
    }

    private static ChainedOptionsBuilder run(Arguments arguments, Path folder, String curve, int value) {
        int plainMib = arguments.quick() ? 4 : Math.min(256, arguments.plainMib());
        if (curve.equals("data_mib")) {
            plainMib = arguments.quick() ? Math.max(1, value / 256) : value;
        }
        int recordBytes = curve.equals("record_bytes") ? value : 100;
        int partitions = curve.equals("partitions") ? value : 1000;
        ChainedOptionsBuilder run = new OptionsBuilder()
                .include(WriteBenchmark.class.getName() + ".round")
                .param("part", "growth")
                .param("curve", curve)
                .param("data", "text")
                .param("plainMib", Integer.toString(plainMib))
                .param("subjects", "faro")
                .param("folder", folder.toString())
                .param("out", arguments.out().toString());
        run.param("recordBytes", Integer.toString(recordBytes));
        run.param("partitions", Integer.toString(partitions));
        run.param("bufferMib", "16");
        return run.param("codec", "NONE");
    }
}
