package dev.faro.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/** The cases of the part {@code read}: text of 100 bytes, in the order of the file and by partition. */
final class ReadCases {
    private ReadCases() {}

    static List<ChainedOptionsBuilder> runs(Arguments arguments, Path folder) {
        List<ChainedOptionsBuilder> runs = new ArrayList<>();
        for (String codec : List.of("none", "lz4", "zstd")) {
            for (int partitions : List.of(64, 1000, 10_000)) {
                for (int buffer : List.of(16, 128)) {
                    for (String order : List.of("file", "partition")) {
                        Map<String, String> which = Map.of("data", "text", "record_bytes", "100", "order", order,
                                "partitions", Integer.toString(partitions),
                                "buffer_mib", Integer.toString(buffer), "codec", codec);
                        if (arguments.wants(which)) {
                            runs.add(run(arguments, folder.resolve(order + runs.size()), which));
                        }
                    }
                }
            }
        }
        return runs;
    }

    private static ChainedOptionsBuilder run(Arguments arguments, Path folder, Map<String, String> which) {
        List<String> subjects = new ArrayList<>(List.of("faro", "flink", "raw-pread", "raw-pread-crc"));
        if (which.get("order").equals("partition")) {
            subjects.add("faro-scheduler");
        }
        return new OptionsBuilder()
                .include(ReadBenchmark.class.getName() + ".round")
                .param("order", which.get("order"))
                .param("plainMib", Integer.toString(arguments.plainMib()))
                .param("subjects", String.join(",", arguments.chosen(subjects)))
                .param("folder", folder.toString())
                .param("out", arguments.out().toString())
                .param("partitions", which.get("partitions"))
                .param("bufferMib", which.get("buffer_mib"))
                .param("codec", which.get("codec"));
    }
}
