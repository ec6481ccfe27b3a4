package dev.faro.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.spark.merge.FaroMergeManager;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Shuffle services that are killed and start again, with the files from which they go on. */
class KilledServiceTest {
    private static final int KILLS = Integer.getInteger("faro.kills", 2);

    @TempDir
    private Path folder;

    /** A service in a process of its own. */
    private final class Killed implements AutoCloseable {
        private final String host;
        private final int port;
        private Process process;

        Killed(String host, int port) throws IOException {
            this.host = host;
            this.port = port;
            start();
        }

        void start() throws IOException {
            Path recovery = Files.createDirectories(folder.resolve("recovery-" + host));
            List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java")
                    .toString(), "-Xmx256m"));
            command.addAll(TestHome.options());
            command.addAll(List.of("-cp", System.getProperty("java.class.path"), ShuffleServer.class.getName(), host,
                    String.valueOf(port), FaroMergeManager.class.getName(), recovery.toString()));
            process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
            BufferedReader output =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            assertEquals("started", output.readLine());
        }

        void kill() throws InterruptedException {
            process.destroyForcibly();
            process.waitFor();
        }

        @Override
        public void close() throws InterruptedException {
            kill();
        }
    }

    private static Row job(TestSession session) {
        return session.sql().sql("""
                select sum(cast(xxhash64(key, value) as decimal(38, 0))), count(*) from
                (select /*+ repartition(6, key) */ id % 10007 as key, sha2(cast(id as string), 256) as value
                from range(0, 200000, 1, 12))""").first();
    }

    @Test
    @Timeout(300)
    void resultsStayRight() throws Exception {
        Row expected = TestSession.expected(folder, Map.of(), KilledServiceTest::job);
        Map<String, String> settings = new HashMap<>(
                Map.of("spark.shuffle.manager", FaroShuffleManager.class.getName(), "spark.shuffle.io.maxRetries", "20",
                        "spark.shuffle.io.retryWait", "200ms", "spark.stage.maxConsecutiveAttempts", "12"));
        Map<String, Killed> services = new HashMap<>();
        PushCluster.Maker maker = (host, port) -> {
            services.put(host, new Killed(host, port));
            return services.get(host);
        };
        try (PushCluster cluster = new PushCluster(folder, maker);
                TestSession session = cluster.start(folder, settings)) {
            assertEquals(expected, job(session));
            PushCluster.Reads reads = new PushCluster.Reads();
            session.rdds().sc().addSparkListener(reads);
            Random random = new Random(1);
            for (int i = 0; i < KILLS; i++) {
                Killed service = services.get(PushCluster.HOSTS.get(i % PushCluster.HOSTS.size()));
                CompletableFuture<Row> result = CompletableFuture.supplyAsync(() -> job(session));
                Thread.sleep(random.nextInt(1500));
                service.kill();
                service.start();
                assertEquals(expected, result.get(100, TimeUnit.SECONDS), "kill " + i);
            }
            session.rdds().sc().listenerBus().waitUntilEmpty();
            assertTrue(reads.localChunks() + reads.remoteChunks() > 0, reads.toString());
        }
    }
}
