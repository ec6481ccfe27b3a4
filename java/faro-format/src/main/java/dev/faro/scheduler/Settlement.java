package dev.faro.scheduler;

import dev.faro.internal.bytes.Grant;

/** Gives an engine back what its scheduler does not use. */
final class Settlement {
    private final Ledger ledger;
    /** Null if the engine supplies the buffers. */
    private final PooledBuffers pool;
    private final FileReads reads;

    Settlement(Ledger ledger, PooledBuffers pool, FileReads reads) {
        this.ledger = ledger;
        this.pool = pool;
        this.reads = reads;
    }

    /**
     * Gives back what is not in use. The caller does not hold the lock.
     *
     * @param idle whether no consumer is left
     * @param everything also what the ledger says is in use
     */
    void settle(boolean idle, boolean everything) {
        long excess;
        synchronized (ledger) {
            excess = ledger.grants.excess(everything);
        }
        try {
            if (pool != null) {
                pool.trim();
            }
            if (idle) {
                reads.release();
            }
        } finally {
            Grant.shrink(ledger.grants.budget(), excess);
        }
    }
}
