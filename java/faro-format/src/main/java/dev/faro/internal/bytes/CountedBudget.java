package dev.faro.internal.bytes;

import dev.faro.MemoryBudget;
import java.util.concurrent.atomic.LongAdder;

/** An engine's budget whose refusals to one user are counted. */
public final class CountedBudget implements MemoryBudget {
    private final MemoryBudget budget;
    private final LongAdder refusals = new LongAdder();

    private CountedBudget(MemoryBudget budget) {
        this.budget = budget;
    }

    /** Counts the refusals of a budget; null if there is none. */
    public static CountedBudget of(MemoryBudget budget) {
        return budget == null ? null : new CountedBudget(budget);
    }

    /** How often a budget refused; 0 if there is none. */
    public static long refusals(CountedBudget budget) {
        return budget == null ? 0 : budget.refusals.sum();
    }

    @Override
    public boolean tryGrow(long bytes) {
        boolean granted = budget.tryGrow(bytes);
        if (!granted) {
            refusals.increment();
        }
        return granted;
    }

    @Override
    public void shrink(long bytes) {
        budget.shrink(bytes);
    }
}
