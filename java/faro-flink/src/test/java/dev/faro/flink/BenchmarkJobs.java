package dev.faro.flink;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.flink.api.common.functions.FlatMapFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichFlatMapFunction;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.util.Collector;

/** Jobs that are measured. Each makes its own data, except the queries of TPC-H. */
final class BenchmarkJobs {
    private static final int TOGETHER = 1000;
    private static final int RECORD = 100;
    private static final int POOL = 1 << 14;
    private static final long KEYS = 100_000;
    private static final int LENGTHS = 4;

    private BenchmarkJobs() {}

    /**
     * Returns a job.
     *
     * @param bytes the approximate amount of data in its largest exchange; ignored for queries, where it depends on the
     *     tables
     */
    static Cluster.Job job(String name, long bytes, Tpch tpch) {
        return switch (name) {
            // What a shuffle costs a job, whatever it exchanges.
            case "small" -> job("rebalance", 1 << 20, tpch);
            case "rebalance" -> environment -> environment.fromSequence(1, bytes / (TOGETHER * (RECORD + 2 * LENGTHS)))
                    .flatMap(new Lines()).returns(PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO)
                    .rebalance()
                    .flatMap(new Drop());
            case "keyed-sum" -> environment -> environment.fromSequence(1, bytes / (TOGETHER * 22))
                    .flatMap(new Pairs()).returns(Types.TUPLE(Types.LONG, Types.LONG))
                    .keyBy(pair -> pair.f0, Types.LONG)
                    .sum(1)
                    .filter(pair -> pair.f0 % 1000 == 0)
                    .map(pair -> pair.f0 + " " + pair.f1).returns(Types.STRING);
            case "word-count" -> environment -> {
                List<String> text = List.copyOf(Jobs.text());
                long size = text.stream().mapToLong(String::length).sum();
                // Each word is exchanged with a number and its lengths.
                return Jobs.wordCount(environment, text, Math.max(1, bytes / (2 * size)));
            };
            default -> environment -> tpch.query(name, environment);
        };
    }

    /** Makes lines of words, from a pool that is repeated. */
    private static final class Lines extends RichFlatMapFunction<Long, byte[]> {
        private static final long serialVersionUID = 1;
        private transient byte[][] lines;

        @Override
        public void open(OpenContext context) {
            byte[] text = String.join(" ", Jobs.text()).getBytes(StandardCharsets.UTF_8);
            SplittableRandom random = new SplittableRandom(1);
            lines = new byte[POOL][RECORD];
            for (byte[] line : lines) {
                System.arraycopy(text, random.nextInt(text.length - RECORD), line, 0, RECORD);
            }
        }

        @Override
        public void flatMap(Long number, Collector<byte[]> out) {
            int from = (int) (number * TOGETHER % POOL);
            for (int i = 0; i < TOGETHER; i++) {
                out.collect(lines[(from + i) % POOL]);
            }
        }
    }

    private static final class Drop implements FlatMapFunction<byte[], String> {
        private static final long serialVersionUID = 1;

        @Override
        public void flatMap(byte[] line, Collector<String> out) {
            // Only the arrival of the line is measured.
        }
    }

    private static final class Pairs implements FlatMapFunction<Long, Tuple2<Long, Long>> {
        private static final long serialVersionUID = 1;

        @Override
        public void flatMap(Long number, Collector<Tuple2<Long, Long>> out) {
            SplittableRandom random = new SplittableRandom(number);
            for (int i = 0; i < TOGETHER; i++) {
                out.collect(Tuple2.of(random.nextLong(KEYS), number));
            }
        }
    }
}
