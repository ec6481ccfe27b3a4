package dev.faro.spark;

import java.io.IOException;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.apache.spark.network.client.StreamCallbackWithID;
import org.apache.spark.network.shuffle.MergedShuffleFileManager;
import org.apache.spark.network.shuffle.protocol.FinalizeShuffleMerge;
import org.apache.spark.network.shuffle.protocol.PushBlockStream;

/** What can happen to pushes, to merged files and to the disk. A seed decides where. */
enum Harm {
    NONE("nothing"),
    FLIPPED_BIT("a flipped bit in a merged data file", files -> files.flip(files.one(".data"))),
    FLIPPED_BITS("a flipped bit in each merged data file", files -> files.all(".data").forEach(files::flip)),
    FLIPPED_INDEX("a flipped bit in a merged index file", files -> files.flip(files.one(".index"))),
    FLIPPED_META("a flipped bit in each file that says which map tasks a chunk has",
            files -> files.metas().forEach(files::flip)),
    ZEROED_PAGE("a page of zeros in a merged data file", files -> files.zeroPage(files.one(".data"))),
    CUT_DATA("a merged data file is cut", files -> files.cut(files.one(".data"))),
    CUT_INDEX("a merged index file is cut", files -> files.cut(files.one(".index"))),
    CUT_META("each file that says which map tasks a chunk has is cut", files -> files.metas().forEach(files::cut)),
    REMOVED("a merged file is removed", files -> files.remove(files.one(""))),
    OTHER_PARTITION("the merged files of one partition have the bytes of another", HarmedFiles::mixUp),
    FLIPPED_PUSH("a bit of a push flips on its way", HarmedPush::deliverFlipped, null),
    CUT_PUSH("a push ends early, and the service does not notice", HarmedPush::deliverCut, null),
    BROKEN_PUSH("a push breaks off, and is made again", push -> {
        push.breakOff();
        push.deliver();
    }, null),
    DUPLICATE("a push is made twice", push -> {
        push.deliver();
        push.deliver();
    }, null),
    OTHER_ATTEMPT("another attempt of the map task has pushed other rows before", push -> {
        push.deliverOtherAttempt();
        push.deliver();
    }, null),
    LATE("a push comes after the merge was finalized") {
        private final Queue<HarmedPush> held = new ConcurrentLinkedQueue<>();

        @Override
        StreamCallbackWithID push(MergedShuffleFileManager manager, PushBlockStream push, Random random,
                HarmfulManager.Trial trial) {
            return sometimes(manager, push, random, trial, held::add);
        }

        @Override
        void late() {
            for (HarmedPush next; (next = held.poll()) != null;) {
                try {
                    next.deliver();
                } catch (IOException | RuntimeException e) {
                    // Refused, as it should be.
                }
            }
        }
    },
    FULL_DISK("the disk of the service is full, from some write to a data file on") {
        @Override
        void disk(HarmfulManager manager, PushBlockStream push, Random random, HarmfulManager.Trial trial) {
            manager.failWrites(push, true, false, from(2 + push.reduceId % 4, trial));
        }
    },
    FULL_DISK_INDEX("the disk is full, from some write to an index on") {
        @Override
        void disk(HarmfulManager manager, PushBlockStream push, Random random, HarmfulManager.Trial trial) {
            manager.failWrites(push, false, true, from(push.reduceId % 4, trial));
        }
    },
    FULL_DISK_AT_THE_END("the disk is full when the merge is finalized") {
        @Override
        void end(HarmfulManager manager, FinalizeShuffleMerge merge, HarmfulManager.Trial trial) {
            manager.failIndexes(merge.appId, merge.shuffleId, from(0, trial));
        }
    },
    FAILING_WRITES("one write in four fails") {
        @Override
        void disk(HarmfulManager manager, PushBlockStream push, Random random, HarmfulManager.Trial trial) {
            AtomicInteger count = new AtomicInteger();
            int which = random.nextInt(4);
            manager.failWrites(push, true, true, () -> {
                if (count.incrementAndGet() % 4 == which) {
                    trial.happened();
                    throw new IOException("Input/output error");
                }
            });
        }
    };

    private final String title;
    private final Consumer<HarmedFiles> onFiles;
    private final HarmedPush.Delivery delivery;

    Harm(String title) {
        this(title, null, null);
    }

    Harm(String title, Consumer<HarmedFiles> onFiles) {
        this(title, null, onFiles);
    }

    /** With a delivery, one push in three arrives so. */
    Harm(String title, HarmedPush.Delivery delivery, Consumer<HarmedFiles> onFiles) {
        this.title = title;
        this.delivery = delivery;
        this.onFiles = onFiles;
    }

    /** What happens, for the table. */
    String title() {
        return title;
    }

    /** Receives a push. */
    StreamCallbackWithID push(MergedShuffleFileManager manager, PushBlockStream push, Random random,
            HarmfulManager.Trial trial) {
        return delivery == null ? manager.receiveBlockDataAsStream(push)
                : sometimes(manager, push, random, trial, delivery);
    }

    /** After a push has begun, and with it the files of its partition. */
    void disk(HarmfulManager manager, PushBlockStream push, Random random, HarmfulManager.Trial trial) {}

    /** Before a merge is finalized. */
    void end(HarmfulManager manager, FinalizeShuffleMerge merge, HarmfulManager.Trial trial) {}

    /** After a merge was finalized. */
    void files(HarmedFiles files) {
        if (onFiles != null) {
            onFiles.accept(files);
        }
    }

    /** After a merge was finalized, also one without files. */
    void late() {}

    private static StreamCallbackWithID sometimes(MergedShuffleFileManager manager, PushBlockStream push,
            Random random, HarmfulManager.Trial trial, HarmedPush.Delivery delivery) {
        return random.nextInt(3) > 0 ? manager.receiveBlockDataAsStream(push)
                : HarmedPush.receive(manager, push, random, trial, delivery);
    }

    private static FailingChannel.Faults from(int first, HarmfulManager.Trial trial) {
        AtomicInteger count = new AtomicInteger();
        return () -> {
            if (count.getAndIncrement() >= first) {
                trial.happened();
                throw new IOException("No space left on device");
            }
        };
    }
}
