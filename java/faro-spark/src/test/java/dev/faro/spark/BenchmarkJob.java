package dev.faro.spark;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;

/**
 * A job that is measured.
 *
 * @param job {@code repartition} and {@code sort} move rows of 92 bytes, {@code repartition-spill} and
 *     {@code sort-spill} with memory for a fifth of them; {@code tiny-blocks} moves one record from each of as many map
 *     tasks as there are partitions to each partition; others are queries of TPC-H
 * @param partitions of each shuffle
 * @param codec none, lz4 or zstd
 * @param plainMib the size of the rows in MiB; not for queries and tiny blocks
 * @param tables a folder of TPC-H's tables as text
 */
record BenchmarkJob(String job, int partitions, String codec, long plainMib, String tables) {
    private static final int MAPS = 4;
    /** Ten columns and a bit for each that is null, and the length of all that, as Spark moves it. */
    private static final int ROW = 92;
    private static final int COLUMNS = 5;
    private static final int CORES = 2;

    private boolean spills() {
        return job.endsWith("-spill");
    }

    /** Whether the tables are needed. */
    private boolean isQuery() {
        return job.startsWith("q");
    }

    /** Settings that are the same for all shuffles that are compared. */
    Map<String, String> settings(long heap) {
        Map<String, String> settings = new TreeMap<>(Map.of("spark.sql.shuffle.partitions", String.valueOf(partitions),
                "spark.sql.autoBroadcastJoinThreshold", "-1", "spark.serializer",
                "org.apache.spark.serializer.KryoSerializer", "spark.sql.adaptive.enabled", String.valueOf(isQuery())));
        if (codec.equals("none")) {
            settings.put("spark.shuffle.compress", "false");
        } else {
            settings.put("spark.io.compression.codec", codec);
        }
        if (spills()) {
            // What Spark manages is this share of the heap without 300 MiB; of that each task gets a half.
            double wanted = (plainMib << 20) / 5.0 / MAPS * CORES;
            settings.put("spark.memory.fraction", String.valueOf(wanted / (heap - (300 << 20))));
        }
        return settings;
    }

    /** Brings the tables into a form that is fast to read. Not measured. */
    void prepare(SparkSession session, Path folder) throws IOException {
        if (!isQuery()) {
            return;
        }
        for (String statement : text("tables").split(";")) {
            int from = statement.indexOf("${");
            if (from < 0) {
                continue;
            }
            String table = statement.substring(from + 2, statement.indexOf('}', from));
            Path file = Path.of(tables, table + ".tbl").toAbsolutePath();
            if (!Files.exists(file)) {
                throw new IOException("expected a table of TPC-H in " + file + "; make out/tpch-0.1/stamp makes it");
            }
            int columns = statement.indexOf('(');
            int end = statement.lastIndexOf(')', statement.lastIndexOf("WITH"));
            String parquet = folder.resolve(table).toString();
            session.read().schema(statement.substring(columns + 1, end).replace("`", "")).option("sep", "|")
                    .csv(file.toString()).write().parquet(parquet);
            session.read().parquet(parquet).createOrReplaceTempView(table);
        }
    }

    private static String text(String name) throws IOException {
        try (InputStream file = BenchmarkJob.class.getResourceAsStream("/tpch/" + name + ".sql")) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** Runs it once. Returns its results as text, which all shuffles have to give. */
    String run(TestSession session) throws IOException {
        switch (job) {
            case "repartition", "repartition-spill" -> {
                // All columns, since Spark does not move one that is not used.
                String sums = IntStream.range(0, COLUMNS).mapToObj(i -> "bit_xor(h" + i + "), bit_xor(n" + i + ")")
                        .collect(Collectors.joining(", "));
                String moved = rows("/*+ repartition(" + partitions + ", h0) */");
                return session.sql().sql("select count(*), " + sums + " from (" + moved + ")").collectAsList().toString();
            }
            case "sort", "sort-spill" -> {
                session.sql().sql(rows("") + " order by h0").write().format("noop").mode("overwrite").save();
                return "";
            }
            case "tiny-blocks" -> {
                List<Integer> maps = IntStream.range(0, partitions).boxed().collect(Collectors.toList());
                int count = partitions;
                return String.valueOf(session.rdds().parallelize(maps, partitions)
                        .flatMapToPair(map -> IntStream.range(0, count).mapToObj(to -> new Tuple2<>(to, map)).iterator())
                        .partitionBy(new HashPartitioner(partitions)).count());
            }
            default -> {
                return session.sql().sql(text(job)).collectAsList().stream().map(Row::toString)
                        .collect(Collectors.joining("\n"));
            }
        }
    }

    /** Half of the columns are random, half are small numbers. */
    private String rows(String hint) {
        String columns = IntStream.range(0, COLUMNS).mapToObj(i -> "xxhash64(id, " + i + ") as h" + i + ", id % "
                + (i * 1000 + 7) + " as n" + i).collect(Collectors.joining(", "));
        long count = (plainMib << 20) / ROW;
        return "select " + hint + " " + columns + " from range(0, " + count + ", 1, " + MAPS + ")";
    }
}
