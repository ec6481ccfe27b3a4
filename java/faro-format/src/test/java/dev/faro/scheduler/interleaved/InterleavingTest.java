package dev.faro.scheduler.interleaved;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.testing.interleaved.Interleaving;
import dev.faro.testing.interleaved.Weaver;
import java.lang.reflect.Constructor;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The scheduler's threads in orders that are drawn from seeds. {@code -Dfaro.seeds=N} runs more of them,
 * {@code -Dfaro.seed=S} only the one that a failure names.
 */
@Timeout(value = 3600)
class InterleavingTest {
    private static final int SEEDS = 500;
    private static final Set<String> WOVEN = Set.of("scheduler.Scheduler", "scheduler.Scheduler$Host",
            "scheduler.Consumer", "scheduler.FileStep", "scheduler.FileReads",
            "scheduler.Landing", "reader.Feed", "reader.Feed$Planned",
            "reader.FeedSource");

    @TempDir
    Path folder;

    private LongUnaryOperator scenario() throws ReflectiveOperationException {
        Class<?> woven = new Weaver(WOVEN).loadClass(Scenario.class.getName());
        Constructor<?> constructor = woven.getDeclaredConstructor(Path.class);
        constructor.setAccessible(true);
        return (LongUnaryOperator) constructor.newInstance(folder);
    }

    private static long run(LongUnaryOperator scenario, long seed) {
        try {
            return scenario.applyAsLong(seed);
        } catch (Throwable e) {
            throw new AssertionError("seed " + seed + " (again with -Dfaro.seed=" + seed + "): " + e.getMessage(), e);
        }
    }

    @Test
    void whateverTheOrder() throws Exception {
        LongUnaryOperator scenario = scenario();
        Long one = Long.getLong("faro.seed");
        if (one != null) {
            run(scenario, one);
            return;
        }
        Set<Long> orders = new HashSet<>();
        int seeds = Integer.getInteger("faro.seeds", SEEDS);
        for (long seed = 0; seed < seeds; seed++) {
            orders.add(run(scenario, seed));
        }
        assertTrue(orders.size() > seeds * 9 / 10, orders.size() + " orders");
    }

    @Test
    void theSameSeedIsTheSameOrder() throws Exception {
        LongUnaryOperator scenario = scenario();
        for (long seed = 0; seed < 20; seed++) {
            assertEquals(run(scenario, seed), run(scenario, seed), "seed " + seed);
        }
    }

    /**
     * Shows that the tool finds what it is for: a thread that looks before it announces that it waits may not be woken.
     */
    @Test
    void aLostWakeIsFound() throws Exception {
        int lost = 0;
        for (long seed = 0; seed < 100; seed++) {
            Interleaving threads = new Interleaving(seed);
            AtomicInteger state = new AtomicInteger();
            Thread waits = threads.add("waits", () -> {
                if (state.get() == 0) {
                    Interleaving.point();
                    state.set(-1);
                    Interleaving.park(state);
                }
            });
            threads.add("wakes", () -> {
                if (state.getAndSet(1) == -1) {
                    Interleaving.unpark(waits);
                }
            });
            try {
                threads.run();
            } catch (AssertionError e) {
                assertEquals("all wait: [waits]", e.getMessage());
                lost++;
            }
        }
        assertTrue(lost > 0 && lost < 100, lost + " lost");
    }
}
