package dev.faro.hybrid.interleaved;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.testing.interleaved.Weaver;
import java.lang.reflect.Constructor;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The threads of hybrid stores in orders that are drawn from seeds. {@code -Dfaro.seeds=N} runs more of them,
 * {@code -Dfaro.seed=S} only the one that a failure names.
 */
@Timeout(value = 3600)
class HybridInterleavingTest {
    private static final int SEEDS = 600;
    private static final Set<String> WOVEN = Set.of("hybrid.HybridStore", "hybrid.HybridMemory", "hybrid.HybridConsumer",
            "hybrid.Image", "hybrid.Spiller", "hybrid.Progress");

    @TempDir
    Path folder;

    @Test
    void whateverTheOrder() throws Exception {
        Class<?> woven = new Weaver(WOVEN).loadClass(HybridScenario.class.getName());
        Constructor<?> constructor = woven.getDeclaredConstructor(Path.class);
        constructor.setAccessible(true);
        LongUnaryOperator scenario = (LongUnaryOperator) constructor.newInstance(folder);
        Long one = Long.getLong("faro.seed");
        Set<Long> orders = new HashSet<>();
        long first = one == null ? 0 : one;
        long seeds = one == null ? Integer.getInteger("faro.seeds", SEEDS) : 1;
        for (long seed = first; seed < first + seeds; seed++) {
            try {
                orders.add(scenario.applyAsLong(seed));
            } catch (Throwable e) {
                throw new AssertionError("seed " + seed + " (again with -Dfaro.seed=" + seed + "): " + e.getMessage(), e);
            }
        }
        assertTrue(orders.size() > seeds * 9 / 10, orders.size() + " orders");
    }
}
