package dev.faro.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/** The cases of the part {@code write}. */
final class WriteCases {
    private static final List<Integer> PARTITIONS = List.of(64, 1000, 10_000);
    private static final List<Integer> BUFFERS = List.of(16, 128);

    private WriteCases() {}

    private record Source(String data, int recordBytes, List<String> codecs) {}

    static List<ChainedOptionsBuilder> runs(Arguments arguments, Path folder) {
        List<Source> sources = new ArrayList<>(List.of(
                new Source("text", 100, List.of("none", "lz4", "zstd")),
                new Source("text", 16, List.of("none")),
                new Source("text", 512, List.of("none")),
                new Source("text", 1 << 10, List.of("none")),
                new Source("text", 64 << 10, List.of("none")),
                new Source("skewed", 100, List.of("none"))));
        if (arguments.lineitem() != null) {
            sources.add(new Source("lineitem", 0, List.of("none", "lz4", "zstd")));
        }
        List<ChainedOptionsBuilder> runs = new ArrayList<>();
        for (Source source : sources) {
            for (String codec : source.codecs) {
                for (int partitions : PARTITIONS) {
                    for (int buffer : BUFFERS) {
                        Map<String, String> which = Map.of("data", source.data,
                                "record_bytes", Integer.toString(source.recordBytes),
                                "partitions", Integer.toString(partitions),
                                "buffer_mib", Integer.toString(buffer), "codec", codec);
                        if (arguments.wants(which)) {
                            runs.add(run(arguments, folder, which));
                        }
                    }
                }
            }
        }
        return runs;
    }

    private static ChainedOptionsBuilder run(Arguments arguments, Path folder, Map<String, String> which) {
        List<String> subjects = new ArrayList<>(List.of(
                "faro", "faro-hybrid-full", "faro-hybrid-full-2-threads", "flink", "raw-write"));
        if (which.get("codec").equals("none")) {
            subjects.add("flink-8-more");
            subjects.add("flink-hash");
        } else {
            subjects.add("codec");
        }
        String data = which.get("data");
        ChainedOptionsBuilder run = new OptionsBuilder()
                .include(WriteBenchmark.class.getName() + ".round")
                .param("part", "write")
                .param("data", data.equals("lineitem") ? data + ":" + arguments.lineitem() : data)
                .param("plainMib", Integer.toString(arguments.plainMib()))
                .param("subjects", String.join(",", arguments.chosen(subjects)))
                .param("folder", folder.toString())
                .param("out", arguments.out().toString());
        run.param("recordBytes", which.get("record_bytes"));
        run.param("partitions", which.get("partitions"));
        run.param("bufferMib", which.get("buffer_mib"));
        return run.param("codec", which.get("codec"));
    }
}
