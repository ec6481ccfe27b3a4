package dev.faro.flink;

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
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.co.CoMapFunction;
import org.apache.flink.util.Collector;

/** Jobs whose results are the same whatever order records come in. */
final class Jobs {
    /** Subtasks that {@link #fewToMany} has run as producers. */
    static final AtomicInteger PRODUCERS = new AtomicInteger();
    private static final int LARGEST = 700_000;

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
            return "record " + number + " " + "x".repeat(100);
        }
    }

    /** So slow that the next subtask does not wait for its slot. */
    private static final class SlowStart extends RichMapFunction<String, String> {
        private static final long serialVersionUID = 1;

        @Override
        public void open(OpenContext context) throws InterruptedException {
            Thread.sleep(400);
        }

        @Override
        public String map(String text) {
            return text.substring(0, 12);
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

    /** The text of the specification. */
    static List<String> text() {
        try (Stream<Path> files = Files.list(Path.of("../../spec"))) {
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
        List<String> text = List.copyOf(text());
        return environment.fromSequence(0, text.size() - 1)
                .map(number -> text.get(number.intValue())).returns(Types.STRING)
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

    private static String large(long number) {
        int length = (int) (number * number * 7919 % LARGEST);
        StringBuilder text = new StringBuilder();
        while (text.length() < length) {
            text.append(number).append(' ').append(text.length()).append(',');
        }
        return text.toString();
    }

    /** Records from nothing to many buffers, and larger than a small sort buffer. */
    static DataStream<String> largeRecords(StreamExecutionEnvironment environment) {
        return environment.fromSequence(0, 79)
                .map(Jobs::large).returns(Types.STRING)
                .rebalance()
                .map(text -> text.length() + " " + text.hashCode()).returns(Types.STRING);
    }

    /** All records for one of the subpartitions. */
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

    /** One producer, two consumers; with one slot in each task manager, one of these is where the producer was. */
    static DataStream<String> fewToMany(StreamExecutionEnvironment environment) {
        return environment.fromSequence(1, 4_000).setParallelism(1)
                .map(new Producer()).setParallelism(1)
                .rebalance()
                .map(new SlowStart());
    }
}
