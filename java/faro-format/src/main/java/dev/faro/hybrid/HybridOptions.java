package dev.faro.hybrid;

import dev.faro.reader.ReaderOptions;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;

/** How a hybrid store works, besides the options of its writer. Setters return this object. */
public final class HybridOptions {
    final HybridMemory memory;
    final HybridMode mode;
    Executor executor = Runnable::run;
    Duration delay = Duration.ofMillis(10);
    ReaderOptions reader = ReaderOptions.DEFAULT;

    /** Makes the default options. */
    public HybridOptions(HybridMemory memory, HybridMode mode) {
        this.memory = Objects.requireNonNull(memory, "memory");
        this.mode = Objects.requireNonNull(mode, "mode");
    }

    HybridOptions(HybridOptions other) {
        memory = other.memory;
        mode = other.mode;
        executor = other.executor;
        delay = other.delay;
        reader = other.reader;
    }

    /**
     * The threads that write what leaves the memory; they may block. No producer should use them: it may wait for work that
     * has not begun. By default it is written by the producer's call that committed a region. A store has at most one piece
     * of work at a time. An executor that drops work leaves callers waiting; one that throws makes the store fail.
     */
    public HybridOptions executor(Executor value) {
        executor = Objects.requireNonNull(value, "executor");
        return this;
    }

    /**
     * The time after which a region ends for a consumer that waits, even if it is small; default 10 ms. A region with
     * 32 KiB of records ends at once. The producer looks at the clock when it writes: while it does not, nothing ends.
     */
    public HybridOptions delay(Duration value) {
        delay = Objects.requireNonNull(value, "delay");
        return this;
    }

    /** How consumers read; default {@link ReaderOptions#DEFAULT}. */
    public HybridOptions reader(ReaderOptions value) {
        reader = Objects.requireNonNull(value, "reader");
        return this;
    }
}
