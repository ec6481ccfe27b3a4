package dev.faro.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The planning of reads, without files and threads. */
class SweepTest {
    private static List<String> owners(Sweep.Read<String> read) {
        return read.requests().stream().map(Sweep.Request::owner).toList();
    }

    @Test
    void ascendingFromWhereTheLastReadEnded() {
        Sweep<String> sweep = new Sweep<>(0, 1000);
        assertNull(sweep.next(1000));
        sweep.add("c", 300, 310);
        sweep.add("a", 100, 110);
        assertEquals(List.of("a"), owners(sweep.next(1000)));
        sweep.add("late", 50, 60);
        sweep.add("b", 200, 210);
        assertEquals(List.of("b"), owners(sweep.next(1000)));
        assertEquals(List.of("c"), owners(sweep.next(1000)));
        assertEquals(List.of("late"), owners(sweep.next(1000)));
        assertTrue(sweep.isEmpty());
    }

    @Test
    void neighboursSmallGapsAndTheSameBytes() {
        Sweep<String> sweep = new Sweep<>(10, 100);
        sweep.add("a", 0, 20);
        sweep.add("same", 0, 20);
        sweep.add("gap", 30, 40);
        sweep.add("far", 51, 60);
        Sweep.Read<String> read = sweep.next(1000);
        assertEquals(List.of("a", "same", "gap"), owners(read));
        assertEquals(0, read.start());
        assertEquals(40, read.end());
        sweep.add("fits", 60, 152);
        sweep.add("within", 70, 90);
        assertEquals(List.of("far"), owners(sweep.next(1000)), "152 - 51 is more than 100");
        assertEquals(List.of("fits", "within"), owners(sweep.next(1000)));
    }

    @Test
    void longRequestsAndLittleRoom() {
        Sweep<String> sweep = new Sweep<>(10, 100);
        sweep.add("long", 0, 500);
        sweep.add("next", 500, 510);
        assertEquals(List.of("long"), owners(sweep.next(0)));
        sweep.add("second", 510, 520);
        sweep.add("third", 520, 530);
        Sweep.Read<String> read = sweep.next(25);
        assertEquals(List.of("next", "second"), owners(read));
        sweep.putBack(read.requests().get(1));
        assertSame(read.requests().get(1), sweepToThe(sweep, "second"));
    }

    private static Sweep.Request<String> sweepToThe(Sweep<String> sweep, String owner) {
        while (!sweep.isEmpty()) {
            for (Sweep.Request<String> request : sweep.next(1000).requests()) {
                if (request.owner().equals(owner)) {
                    return request;
                }
            }
        }
        return null;
    }

    /** No request waits longer than one whole sweep, although others always ask for the next bytes. */
    @Test
    void fairness() {
        for (int seed = 0; seed < 200; seed++) {
            Random random = new Random(seed);
            Sweep<Integer> sweep = new Sweep<>(random.nextInt(50), 1 + random.nextInt(300));
            Map<Integer, Long> begun = new HashMap<>();
            Set<Integer> open = new HashSet<>();
            long turns = 0;
            long last = 0;
            long lastStart = 0;
            int next = 0;
            for (int i = 0; i < 3000; i++) {
                // Greedy owners ask right after the last read, others anywhere.
                while (open.size() < 20) {
                    long start = random.nextInt(3) > 0 ? last + random.nextInt(30) : random.nextInt(10_000);
                    if (start >= 10_000) {
                        start = random.nextInt(10_000);
                    }
                    sweep.add(next, start, start + 1 + random.nextInt(40));
                    begun.put(next, turns);
                    open.add(next++);
                }
                Sweep.Read<Integer> read = sweep.next(1 + random.nextInt(500));
                if (read.start() < lastStart) {
                    turns++;
                }
                lastStart = read.start();
                last = read.end();
                for (Sweep.Request<Integer> request : read.requests()) {
                    assertTrue(open.remove(request.owner()));
                    long waited = turns - begun.get(request.owner());
                    assertTrue(waited <= 1, "seed " + seed + ": " + waited + " sweeps began meanwhile");
                }
            }
        }
    }

    /** ReadPlan and Sweep agree if all requests are known at the beginning. */
    @Test
    void plansOfKnownRequests() {
        for (int seed = 0; seed < 500; seed++) {
            Random random = new Random(seed);
            int count = random.nextInt(40);
            long[] starts = new long[count];
            long[] ends = new long[count];
            long gap = random.nextInt(20);
            long max = 1 + random.nextInt(200);
            Sweep<Integer> sweep = new Sweep<>(gap, max);
            long at = 0;
            for (int i = 0; i < count; i++) {
                at += random.nextInt(40);
                starts[i] = at;
                ends[i] = at + 1 + random.nextInt(60);
                sweep.add(i, starts[i], ends[i]);
            }
            ReadPlan plan = ReadPlan.of(starts, ends, count, gap, max);
            List<Integer> seen = new ArrayList<>();
            long bytes = 0;
            for (int i = 0; i < plan.size(); i++) {
                Sweep.Read<Integer> read = sweep.next(Long.MAX_VALUE);
                assertEquals(read.start(), plan.start(i), "seed " + seed);
                assertEquals(read.end(), plan.end(i), "seed " + seed);
                assertEquals(read.requests().size(), plan.endExtent(i) - plan.firstExtent(i));
                read.requests().forEach(request -> seen.add(request.owner()));
                bytes += read.end() - read.start();
                assertTrue(read.requests().size() == 1 || read.end() - read.start() <= Math.max(max,
                        read.requests().get(0).bytes()), "seed " + seed);
            }
            assertTrue(sweep.isEmpty());
            assertEquals(bytes, plan.bytes());
            assertEquals(count, seen.size());
        }
    }
}
