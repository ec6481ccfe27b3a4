package dev.faro.flink;

import dev.faro.hybrid.HybridConsumer;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.Feed;
import dev.faro.scheduler.Consumer;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;

/** Where the blocks of some subpartitions come from. For one thread at a time. */
interface BlockSource extends Closeable {
    /**
     * Moves to the next block, if it is there.
     *
     * @throws IOException a {@link dev.faro.FaroException} that says what is wrong with the file
     */
    Feed.State poll() throws IOException;

    /** The block that {@link #poll} moved to. */
    BlockCursor block();

    /** Sets a listener, which is called when {@link #poll} may have a block after it had none. */
    void onReady(Runnable listener);

    @Override
    void close();

    /** The subpartitions of a finished output, from the scheduler. */
    static BlockSource of(Consumer consumer) {
        return new BlockSource() {
            @Override
            public Feed.State poll() throws IOException {
                return consumer.poll();
            }

            @Override
            public BlockCursor block() {
                return consumer.block();
            }

            @Override
            public void onReady(Runnable listener) {
                consumer.onReady(listener);
            }

            @Override
            public void close() {
                consumer.close();
            }
        };
    }

    /** The blocks of an output that is in memory, all of which are there. */
    static BlockSource of(BlockCursor blocks) {
        return new BlockSource() {
            @Override
            public Feed.State poll() throws IOException {
                return blocks.next() ? Feed.State.BLOCK : Feed.State.END;
            }

            @Override
            public BlockCursor block() {
                return blocks;
            }

            @Override
            public void onReady(Runnable listener) {
                // There is always a block, or the end.
            }

            @Override
            public void close() {
                blocks.close();
            }
        };
    }

    /** Calls the listener of a source that is opened later. */
    final class Wake implements Runnable {
        private volatile Runnable listener;

        @Override
        public void run() {
            Runnable now = listener;
            if (now != null) {
                now.run();
            }
        }
    }

    /**
     * The subpartitions of a hybrid store. It goes to the next subpartition when one has no block now: there, records end.
     *
     * @param wake the listener with which they were opened
     */
    static BlockSource of(List<HybridConsumer> consumers, Wake wake) {
        return new BlockSource() {
            private int at;

            @Override
            public Feed.State poll() throws IOException {
                boolean ended = true;
                for (int i = 0; i < consumers.size(); i++) {
                    if (consumers.get(at).next()) {
                        return Feed.State.BLOCK;
                    }
                    ended &= consumers.get(at).isFinished();
                    at = (at + 1) % consumers.size();
                }
                return ended ? Feed.State.END : Feed.State.NOT_YET;
            }

            @Override
            public BlockCursor block() {
                return consumers.get(at).block();
            }

            @Override
            public void onReady(Runnable listener) {
                wake.listener = listener;
                // What came before is looked for now.
                listener.run();
            }

            @Override
            public void close() {
                consumers.forEach(HybridConsumer::close);
            }
        };
    }
}
