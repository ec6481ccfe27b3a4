package dev.faro.flink;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;

/**
 * Queries of TPC-H in Flink's SQL, over the files that tpchgen makes.
 *
 * @param folder has a {@code .tbl} file for each table; lines end with a delimiter
 */
record Tpch(Path folder) {
    /** The queries: aggregation, joins of three and of six tables, a join of a table with an aggregation of itself. */
    static final List<String> QUERIES = List.of("q1", "q3", "q5", "q9", "q18");

    /** A query as a job with its rows as results. */
    DataStream<String> query(String name, StreamExecutionEnvironment environment) {
        StreamTableEnvironment tables =
                StreamTableEnvironment.create(environment, EnvironmentSettings.inBatchMode());
        for (String table : text("tables").split(";")) {
            if (!table.isBlank()) {
                tables.executeSql(withFiles(table));
            }
        }
        return tables.toDataStream(tables.sqlQuery(text(name))).map(Row::toString).returns(Types.STRING);
    }

    /** A query as a job. */
    Cluster.Job job(String name) {
        return environment -> query(name, environment);
    }

    private String withFiles(String statement) {
        int from = statement.indexOf("${");
        String table = statement.substring(from + 2, statement.indexOf('}', from));
        Path file = folder.resolve(table + ".tbl").toAbsolutePath();
        if (!Files.exists(file)) {
            throw new IllegalStateException("expected a table of TPC-H in " + file + "; make test-flink makes it");
        }
        return statement.replace("${" + table + "}",
                "'connector' = 'filesystem', 'format' = 'csv', 'csv.field-delimiter' = '|',"
                        + " 'csv.disable-quote-character' = 'true', 'path' = '" + file + "'");
    }

    private static String text(String name) {
        try (InputStream file = Tpch.class.getResourceAsStream("/tpch/" + name + ".sql")) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
