package dev.faro.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.flink.DamagedRun.Ending;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Damage makes Flink run the producer again, and the job has the right result, whichever consumer meets the damage. */
class RecoveryTest {
    private static final String REMOTE = "RemoteTransportException";

    @TempDir
    Path folder;

    static Stream<DamagedRun> runs() {
        return Stream.of(Damage.values()).flatMap(damage -> DamageTable.compressions(damage).stream()
                .flatMap(compressed -> Stream.of(true, false)
                        .map(local -> new DamagedRun(Shuffle.FARO, damage, compressed, local))));
    }

    private static String expected(Damage damage) {
        return switch (damage) {
            case BIT_OF_TEXT, BIT_OF_LENGTH -> "checksum in data file";
            case BIT_OF_SIZE, ZEROED_PAGE, ZEROED_SUBPARTITION -> "in data file";
            case CUT_DATA -> "truncated in data file";
            case LOST_DATA -> "io in data file";
            case BIT_OF_INDEX, CUT_INDEX -> "in index file";
            case LOST_INDEX -> "io in index file";
        };
    }

    @ParameterizedTest
    @MethodSource("runs")
    void producerRunsAgain(DamagedRun run) throws Exception {
        Ending ending = run.run(folder, Map.of());
        Ending.Finished finished = assertInstanceOf(Ending.Finished.class, ending);
        assertTrue(finished.right());
        assertEquals(2, finished.producers(), "runs of the producer");
        assertTrue(finished.failures().stream().anyMatch(failure -> run.local() != failure.contains(REMOTE)),
                () -> "not met by the chosen consumer: " + finished.failures());
        for (String failure : finished.failures()) {
            assertTrue(failure.contains("PartitionNotFoundException"), failure);
            assertTrue(failure.contains(expected(run.damage())), failure);
        }
        assertEquals(DamageTable.rowsOfPage().get(DamageTable.row(run)), DamageTable.text(ending),
                "the text on the page");
    }

    @Test
    void thePageHasNoOtherRows() throws Exception {
        assertEquals(runs().map(DamageTable::row).toList(), List.copyOf(DamageTable.rowsOfPage().keySet()));
    }

    /** Flink's default for batch jobs is to restart nothing. */
    @Test
    void withoutRestartsTheJobReportsTheDamage() throws Exception {
        DamagedRun run = new DamagedRun(Shuffle.FARO, Damage.BIT_OF_TEXT, true, false);
        Ending ending = run.run(folder, Map.of("restart-strategy.type", "none"));
        Ending.Failed failed = assertInstanceOf(Ending.Failed.class, ending);
        assertEquals(0, failed.restarts());
        assertTrue(failed.messages().contains("checksum in data file"), failed.messages());
    }
}
