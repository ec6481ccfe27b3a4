package dev.faro.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.index.Run;
import dev.faro.internal.index.Holdings;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What a service keeps in memory of each push: 2,000 partitions of 2,000 producers are four million. */
class MergeMemoryTest {
    private static final int MERGES = 500;
    private static final int PUSHES = 2_000;

    private static long used() {
        long used = Long.MAX_VALUE;
        for (int i = 0; i < 4; i++) {
            System.gc();
            used = Math.min(used, Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory());
        }
        return used;
    }

    @Test
    void aPushTakesAHundredBytes() {
        long before = used();
        List<Object> kept = new ArrayList<>();
        for (int partition = 0; partition < MERGES; partition++) {
            Holdings holdings = new Holdings();
            OpenRuns runs = new OpenRuns();
            for (long producer = 0; producer < PUSHES; producer++) {
                Run run = new Run(producer * 7, producer << 33, 0, 1, 64, true);
                assertNull(holdings.add(partition, run));
                runs.add(partition, run);
            }
            kept.add(holdings);
            kept.add(runs);
        }
        long each = (used() - before) / (MERGES * PUSHES);
        assertEquals(2 * MERGES, kept.size());
        // With a map and an object for each it was more than 250.
        assertTrue(each <= 120, each + " bytes");
    }

    @Test
    void runsComeBackAsTheyWere() {
        Random random = new Random(5);
        OpenRuns runs = new OpenRuns();
        List<Run> expected = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            Run run = new Run(random.nextLong(), random.nextLong(), random.nextInt() & 0xFFFFFFFFL,
                    random.nextInt() & 0xFFFFFFFFL, 8 * (random.nextInt() & 0xFFFFFFFFL), random.nextBoolean());
            expected.add(run);
            runs.add(i / 3, run);
        }
        for (int i = 0; i < expected.size(); i++) {
            assertEquals(expected.get(i), runs.run(i));
            assertEquals(i / 3, runs.partition(i));
        }
        assertEquals(expected.stream().mapToLong(Run::length).sum(), runs.bytes());
        runs.clear();
        assertTrue(runs.isEmpty() && runs.bytes() == 0);
    }

    /** Beside a map: producers whose hashes collide, too. */
    @Test
    void holdingsAreThoseOfAMap() {
        record Key(long producer, int partition) {}
        for (int seed = 0; seed < 40; seed++) {
            Random random = new Random(seed);
            Holdings holdings = new Holdings();
            Map<Long, Long> attempts = new HashMap<>();
            Map<Key, Run> last = new HashMap<>();
            int producers = 1 + random.nextInt(300);
            for (int step = 0; step < 2_000; step++) {
                long producer = (long) random.nextInt(producers) << (seed % 2 == 0 ? 0 : 32);
                Key key = new Key(producer, random.nextInt(4));
                long attempt = random.nextInt(50) == 0 ? 1 : 0;
                Run before = last.get(key);
                long next = before == null ? 0 : before.firstBlock() + before.blocks();
                long first = random.nextInt(20) == 0 ? next + 1 : next;
                Run run = new Run(producer, attempt, first, 1 + random.nextInt(3), 64, random.nextInt(30) == 0);
                boolean right = attempts.getOrDefault(producer, attempt) == attempt && first == next
                        && (before == null || !before.last());
                assertEquals(right, holdings.add(key.partition, run) == null, "seed " + seed + " step " + step);
                if (right) {
                    attempts.put(producer, attempt);
                    last.put(key, run);
                }
                Run now = last.get(key);
                assertEquals(attempts.get(producer), holdings.attempt(producer));
                assertEquals(now == null ? new Holdings.Held(0, false)
                        : new Holdings.Held(now.firstBlock() + now.blocks(), now.last()),
                        holdings.held(producer, key.partition));
            }
        }
    }
}
