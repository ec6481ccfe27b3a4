package dev.faro.flink;

import dev.faro.internal.block.Context;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.flink.api.common.functions.FlatMapFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.co.BroadcastProcessFunction;
import org.apache.flink.streaming.api.functions.co.CoMapFunction;
import org.apache.flink.streaming.api.transformations.PartitionTransformation;
import org.apache.flink.streaming.api.transformations.StreamExchangeMode;
import org.apache.flink.streaming.runtime.partitioner.RebalancePartitioner;
import org.apache.flink.util.Collector;

/** Jobs with results that do not depend on the order of records. */
final class Jobs {
    /** The number of subtasks that {@link #fewToMany} has run as producers. */
    static final AtomicInteger PRODUCERS = new AtomicInteger();
    /** The number of records of {@link #produced}. */
    static final int PRODUCED = 40_000;
    private static final int LARGEST = 700_000;
    private static final MapStateDescriptor<Long, String> NAMES =
            new MapStateDescriptor<>("names", Types.LONG, Types.STRING);
    private static final int NAMED = 500;

    private Jobs() {}

    private static final class Words implements FlatMapFunction<String, Tuple2<String, Integer>> {
        private static final long serialVersionUID = 1;

        @Override
        public void flatMap(String line, Collector<Tuple2<String, Integer>> out) {
            for (String word : line.toLowerCase(Locale.ROOT).split("\\W+")) {
                out.collect(Tuple2.of(word, 1));
            }
        }
    }

    private static final class Producer extends RichMapFunction<Long, String> {
        private static final long serialVersionUID = 1;

        @Override
        public void open(OpenContext context) {
            PRODUCERS.incrementAndGet();
        }

        @Override
        public String map(Long number) {
            return record(number);
        }
    }

    /** Starts slowly, so that the next subtask does not wait for its slot. */
    private static final class SlowStart extends RichMapFunction<String, String> {
        private static final long serialVersionUID = 1;

        @Override
        public void open(OpenContext context) throws InterruptedException {
            Thread.sleep(400);
        }

        @Override
        public String map(String text) {
            return shortened(text);
        }
    }

    private static final class NameOf extends BroadcastProcessFunction<Long, Tuple2<Long, String>, String> {
        private static final long serialVersionUID = 1;

        @Override
        public void processElement(Long number, ReadOnlyContext context, Collector<String> out) throws Exception {
            out.collect(number + " " + context.getBroadcastState(NAMES).get(number % NAMED));
        }

        @Override
        public void processBroadcastElement(Tuple2<Long, String> name, Context context, Collector<String> out)
                throws Exception {
            context.getBroadcastState(NAMES).put(name.f0, name.f1);
        }
    }

    private static final class Either implements CoMapFunction<Long, Long, String> {
        private static final long serialVersionUID = 1;

        @Override
        public String map1(Long value) {
            return "one of all " + value;
        }

        @Override
        public String map2(Long value) {
            return "broadcast " + value;
        }
    }

    private static String record(long number) {
        return "record " + number + " " + "x".repeat(100);
    }

    static String shortened(String record) {
        return record.substring(0, 12);
    }

    /** The part of a produced record that is kept. */
    static String shortened(long number) {
        return shortened(record(number));
    }

    /** The text of the specification. */
    static List<String> text() {
        try (Stream<Path> files = Files.list(Path.of(System.getProperty("faro.spec", "../../spec")))) {
            return files.filter(file -> file.toString().endsWith(".md")).sorted().flatMap(Jobs::lines).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Stream<String> lines(Path file) {
        try {
            return Files.readAllLines(file).stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static DataStream<String> wordCount(StreamExecutionEnvironment environment) {
        return wordCount(environment, List.copyOf(text()), 1);
    }

    /** Counts the words of a text that is repeated. */
    static DataStream<String> wordCount(StreamExecutionEnvironment environment, List<String> text, long times) {
        return environment.fromSequence(0, text.size() * times - 1)
                .map(number -> text.get((int) (number % text.size()))).returns(Types.STRING)
                .rebalance()
                .flatMap(new Words()).returns(Types.TUPLE(Types.STRING, Types.INT))
                .keyBy(word -> word.f0, Types.STRING)
                .sum(1)
                .map(word -> word.f0 + " " + word.f1).returns(Types.STRING);
    }

    static DataStream<String> keyedSum(StreamExecutionEnvironment environment) {
        return environment.fromSequence(1, 60_000)
                .map(number -> Tuple2.of(number % 97, number)).returns(Types.TUPLE(Types.LONG, Types.LONG))
                .keyBy(pair -> pair.f0, Types.LONG)
                .sum(1)
                .map(pair -> pair.f0 + " " + pair.f1).returns(Types.STRING);
    }

    static DataStream<String> broadcast(StreamExecutionEnvironment environment) {
        DataStream<Long> all = environment.fromSequence(1, 20_000).rebalance();
        DataStream<Long> few = environment.fromSequence(1, 3_000);
        return all.connect(few.broadcast()).map(new Either());
    }

    /** A broadcast table is read before the records that are joined with it. */
    static DataStream<String> broadcastJoin(StreamExecutionEnvironment environment) {
        DataStream<Tuple2<Long, String>> names = environment.fromSequence(0, NAMED - 1)
                .map(number -> Tuple2.of(number, "name " + number)).returns(Types.TUPLE(Types.LONG, Types.STRING));
        return environment.fromSequence(1, 20_000)
                .rebalance()
                .connect(names.broadcast(NAMES))
                .process(new NameOf());
    }

    /** Tasks with one output that is read while it is written, and one that is read when it is finished. */
    static DataStream<String> mixedExchanges(StreamExecutionEnvironment environment) {
        return mixedExchanges(environment, StreamExchangeMode.PIPELINED);
    }

    /** A blocking exchange, and one of another kind; undefined ones are what the job's mode says. */
    static DataStream<String> mixedExchanges(StreamExecutionEnvironment environment, StreamExchangeMode mode) {
        DataStream<Long> numbers = environment.fromSequence(1, 30_000).map(number -> 3 * number);
        DataStream<String> other = rebalanced(numbers, mode)
                .map(number -> "other " + number).returns(Types.STRING);
        DataStream<String> blocking = rebalanced(numbers, StreamExchangeMode.BATCH)
                .map(number -> "blocking " + number).returns(Types.STRING);
        return other.union(blocking);
    }

    private static DataStream<Long> rebalanced(DataStream<Long> numbers, StreamExchangeMode mode) {
        return new DataStream<>(numbers.getExecutionEnvironment(),
                new PartitionTransformation<>(numbers.getTransformation(), new RebalancePartitioner<>(), mode));
    }

    private static String large(long number) {
        int length = (int) (number * number * 7919 % LARGEST);
        StringBuilder text = new StringBuilder();
        while (text.length() < length) {
            text.append(number).append(' ').append(text.length()).append(',');
        }
        return text.toString();
    }

    /** Records of all sizes, from empty ones to ones of many buffers, larger than a small sort buffer. */
    static DataStream<String> largeRecords(StreamExecutionEnvironment environment) {
        return environment.fromSequence(0, 79)
                .map(Jobs::large).returns(Types.STRING)
                .rebalance()
                .map(text -> text.length() + " " + text.hashCode()).returns(Types.STRING);
    }

    /** All records are for one of the subpartitions. */
    static DataStream<String> oneKey(StreamExecutionEnvironment environment) {
        return environment.fromSequence(1, 5_000)
                .map(number -> Tuple2.of("the key", number)).returns(Types.TUPLE(Types.STRING, Types.LONG))
                .keyBy(pair -> pair.f0, Types.STRING)
                .sum(1)
                .map(pair -> pair.f0 + " " + pair.f1).returns(Types.STRING);
    }

    static DataStream<String> nothing(StreamExecutionEnvironment environment) {
        return environment.fromSequence(1, 1_000)
                .filter(number -> number < 0)
                .rebalance()
                .map(number -> "none " + number).returns(Types.STRING);
    }

    /** One producer and two consumers. With one slot in each task manager, one consumer is in the producer's. */
    static DataStream<String> fewToMany(StreamExecutionEnvironment environment) {
        return environment.fromSequence(1, 4_000).setParallelism(1)
                .map(new Producer()).setParallelism(1)
                .rebalance()
                .map(new SlowStart());
    }

    /** Records from producers that are counted. */
    static SingleOutputStreamOperator<String> produced(StreamExecutionEnvironment environment) {
        return environment.fromSequence(1, PRODUCED).map(new Producer());
    }

    /** As many producers as consumers. */
    static DataStream<String> manyToMany(StreamExecutionEnvironment environment) {
        return produced(environment).rebalance().map(new SlowStart());
    }
}
