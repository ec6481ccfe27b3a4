package dev.faro.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.io.network.partition.ResultPartitionType;
import org.apache.flink.streaming.api.datastream.CachedDataStream;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A job reads partitions that another job cached: such partitions outlive their job. */
class CachedPartitionsTest {
    private static final int PARALLELISM = 2;

    @TempDir
    Path folder;

    @Test
    void aSecondJobReadsCachedPartitionsOfTheFirst() throws Exception {
        List<String> expected = LongStream.rangeClosed(1, Jobs.PRODUCED).mapToObj(Jobs::shortened).sorted().toList();
        try (Cluster faro = Cluster.faro(folder, 2, Map.of())) {
            StreamExecutionEnvironment environment = faro.client(PARALLELISM);
            Jobs.PRODUCERS.set(0);
            CachedDataStream<String> cached = Jobs.produced(environment).cache();
            assertEquals(expected, collect(cached));
            assertEquals(PARALLELISM, Jobs.PRODUCERS.get());
            assertTrue(WatchedFactory.PARTITIONS.stream()
                    .anyMatch(partition -> partition.getPartitionType() == ResultPartitionType.BLOCKING_PERSISTENT));
            assertEquals(expected, collect(cached));
            assertEquals(PARALLELISM, Jobs.PRODUCERS.get(), "nothing was produced again");
            environment.close();
        }
    }

    private static List<String> collect(DataStream<String> stream) throws Exception {
        List<String> found =
                new ArrayList<>(stream.map(Jobs::shortened).returns(Types.STRING).executeAndCollect(Jobs.PRODUCED + 1));
        found.sort(null);
        return found;
    }
}
