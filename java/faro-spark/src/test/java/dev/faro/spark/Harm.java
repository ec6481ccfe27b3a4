package dev.faro.spark;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.Framing;
import dev.faro.Limits;
import dev.faro.merge.FileIds;
import dev.faro.merge.FragmentReader;
import dev.faro.merge.Fragments;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.network.client.StreamCallbackWithID;
import org.apache.spark.network.server.BlockPushNonFatalFailure;
import org.apache.spark.network.shuffle.MergedShuffleFileManager;
import org.apache.spark.network.shuffle.protocol.FinalizeShuffleMerge;
import org.apache.spark.network.shuffle.protocol.PushBlockStream;

/** What can happen to pushes, to merged files and to the disk. A seed decides where. */
enum Harm {
    NONE("nothing"),
    /** One bit of one data file. */
    FLIPPED_BIT("a flipped bit in a merged data file") {
        @Override
        void files(List<Path> files, Random random, HarmfulManager.Trial trial) {
            flip(one(files, ".data", random), random, trial);
        }
    },
    /** One bit of each data file. */
    FLIPPED_BITS("a flipped bit in each merged data file") {
        @Override
        void files(List<Path> files, Random random, HarmfulManager.Trial trial) {
            all(files, ".data").forEach(file -> flip(file, random, trial));
        }
    },
    /** One bit of one index file. */
    FLIPPED_INDEX("a flipped bit in a merged index file") {
        @Override
        void files(List<Path> files, Random random, HarmfulManager.Trial trial) {
            flip(one(files, ".index", random), random, trial);
        }
    },
    /** One bit of each file that says which map tasks a chunk has. */
    FLIPPED_META("a flipped bit in each file that says which map tasks a chunk has") {
        @Override
        void files(List<Path> files, Random random, HarmfulManager.Trial trial) {
            boolean stock = !all(files, ".meta").isEmpty();
            all(files, stock ? ".meta" : ".index").forEach(file -> flip(file, random, trial));
        }
    },
    /** A page of zeros in a data file. */
    ZEROED_PAGE("a page of zeros in a merged data file") {
        @Override
        void files(List<Path> files, Random random, HarmfulManager.Trial trial) {
            change(one(files, ".data", random), trial, bytes -> {
                int page = random.nextInt(bytes.length / 4096 + 1) * 4096;
                Arrays.fill(bytes, page, Math.min(bytes.length, page + 4096), (byte) 0);
                return bytes;
            });
        }
    },
    /** A data file that ends early. */
    CUT_DATA("a merged data file is cut") {
        @Override
        void files(List<Path> files, Random random, HarmfulManager.Trial trial) {
            cut(one(files, ".data", random), random, trial);
        }
    },
    /** An index file that ends early. */
    CUT_INDEX("a merged index file is cut") {
        @Override
        void files(List<Path> files, Random random, HarmfulManager.Trial trial) {
            cut(one(files, ".index", random), random, trial);
        }
    },
    /** All files that say which map tasks a chunk has end early. */
    CUT_META("each file that says which map tasks a chunk has is cut") {
        @Override
        void files(List<Path> files, Random random, HarmfulManager.Trial trial) {
            boolean stock = !all(files, ".meta").isEmpty();
            all(files, stock ? ".meta" : ".index").forEach(file -> cut(file, random, trial));
        }
    },
    /** A file that is gone. */
    REMOVED("a merged file is removed") {
        @Override
        void files(List<Path> files, Random random, HarmfulManager.Trial trial) {
            try {
                Files.delete(files.get(random.nextInt(files.size())));
                trial.happened();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    },
    /** The files of one partition have the bytes of another. */
    OTHER_PARTITION("the merged files of one partition have the bytes of another") {
        @Override
        void files(List<Path> files, Random random, HarmfulManager.Trial trial) {
            List<Path> data = all(files, ".data");
            if (data.size() < 2) {
                return;
            }
            String from = stem(data.get(0));
            String to = stem(data.get(1));
            try {
                for (Path file : files) {
                    String ending = file.toString().substring(file.toString().lastIndexOf('.'));
                    if (stem(file).equals(from)) {
                        Path target = files.stream()
                                .filter(other -> other.getFileName().toString().equals(to + ending)).findAny().orElseThrow();
                        Files.copy(file, target, StandardCopyOption.REPLACE_EXISTING);
                        trial.happened();
                    }
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    },
    /** A bit of a push flips on its way. */
    FLIPPED_PUSH("a bit of a push flips on its way") {
        @Override
        StreamCallbackWithID push(MergedShuffleFileManager manager, PushBlockStream push, Random random,
                HarmfulManager.Trial trial) {
            return sometimes(manager, push, random, trial, bytes -> {
                bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
                deliver(manager, push, bytes);
            });
        }
    },
    /** A push ends early. */
    CUT_PUSH("a push ends early, and the service does not notice") {
        @Override
        StreamCallbackWithID push(MergedShuffleFileManager manager, PushBlockStream push, Random random,
                HarmfulManager.Trial trial) {
            return sometimes(manager, push, random, trial,
                    bytes -> deliver(manager, push, Arrays.copyOf(bytes, random.nextInt(bytes.length))));
        }
    },
    /** A push breaks off, and is made again. */
    BROKEN_PUSH("a push breaks off, and is made again") {
        @Override
        StreamCallbackWithID push(MergedShuffleFileManager manager, PushBlockStream push, Random random,
                HarmfulManager.Trial trial) {
            return sometimes(manager, push, random, trial, bytes -> {
                StreamCallbackWithID broken = manager.receiveBlockDataAsStream(push);
                broken.onData(broken.getID(), ByteBuffer.wrap(bytes, 0, random.nextInt(bytes.length)));
                broken.onFailure(broken.getID(), new IOException("the connection is gone"));
                deliver(manager, push, bytes);
            });
        }
    },
    /** A push is made twice. */
    DUPLICATE("a push is made twice") {
        @Override
        StreamCallbackWithID push(MergedShuffleFileManager manager, PushBlockStream push, Random random,
                HarmfulManager.Trial trial) {
            return sometimes(manager, push, random, trial, bytes -> {
                deliver(manager, push, bytes);
                deliver(manager, push, bytes);
            });
        }
    },
    /** Before a map task pushes, another attempt of it has pushed other rows. */
    OTHER_ATTEMPT("another attempt of the map task has pushed other rows before") {
        @Override
        StreamCallbackWithID push(MergedShuffleFileManager manager, PushBlockStream push, Random random,
                HarmfulManager.Trial trial) {
            return sometimes(manager, push, random, trial, bytes -> {
                deliver(manager, push, twice(bytes, push));
                deliver(manager, push, bytes);
            });
        }
    },
    /** A push comes after the merge was finalized. */
    LATE("a push comes after the merge was finalized") {
        private final Queue<Runnable> held = new ConcurrentLinkedQueue<>();

        @Override
        StreamCallbackWithID push(MergedShuffleFileManager manager, PushBlockStream push, Random random,
                HarmfulManager.Trial trial) {
            return sometimes(manager, push, random, trial, bytes -> held.add(() -> {
                try {
                    deliver(manager, push, bytes);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }));
        }

        @Override
        void late(HarmfulManager.Trial trial) {
            for (Runnable next; (next = held.poll()) != null;) {
                try {
                    next.run();
                } catch (RuntimeException e) {
                    // Refused, as it should be.
                }
            }
        }
    },
    /** The disk is full, from some write to the data file on. */
    FULL_DISK("the disk of the service is full, from some write to a data file on") {
        @Override
        void disk(HarmfulManager manager, PushBlockStream push, Random random, HarmfulManager.Trial trial) {
            manager.failWrites(push, true, false, from(2 + push.reduceId % 4, trial));
        }
    },
    /** The disk is full, from some write to the index on. */
    FULL_DISK_INDEX("the disk is full, from some write to an index on") {
        @Override
        void disk(HarmfulManager manager, PushBlockStream push, Random random, HarmfulManager.Trial trial) {
            manager.failWrites(push, false, true, from(push.reduceId % 4, trial));
        }
    },
    /** The disk is full when a merge is finalized, and its last chunk written. */
    FULL_DISK_AT_THE_END("the disk is full when the merge is finalized") {
        @Override
        void end(HarmfulManager manager, FinalizeShuffleMerge merge, HarmfulManager.Trial trial) {
            manager.failIndexes(merge.appId, merge.shuffleId, from(0, trial));
        }
    },
    /** Single writes fail. */
    FAILING_WRITES("one write in four fails") {
        @Override
        void disk(HarmfulManager manager, PushBlockStream push, Random random, HarmfulManager.Trial trial) {
            AtomicInteger count = new AtomicInteger();
            int which = 1 + random.nextInt(3);
            manager.failWrites(push, true, true, () -> {
                if (count.incrementAndGet() % 4 == which) {
                    trial.happened();
                    throw new IOException("Input/output error");
                }
            });
        }
    };

    private final String title;

    Harm(String title) {
        this.title = title;
    }

    /** What happens, for the table. */
    String title() {
        return title;
    }

    /** Receives a push. */
    StreamCallbackWithID push(MergedShuffleFileManager manager, PushBlockStream push, Random random,
            HarmfulManager.Trial trial) {
        return manager.receiveBlockDataAsStream(push);
    }

    /** After a push has begun, and with it the files of its partition. */
    void disk(HarmfulManager manager, PushBlockStream push, Random random, HarmfulManager.Trial trial) {}

    /** Before a merge is finalized. */
    void end(HarmfulManager manager, FinalizeShuffleMerge merge, HarmfulManager.Trial trial) {}

    /** After a merge was finalized. */
    void files(List<Path> files, Random random, HarmfulManager.Trial trial) {}

    /** After a merge was finalized, also one without files. */
    void late(HarmfulManager.Trial trial) {}

    /** What is done with the bytes of a push. */
    private interface Delivery {
        void deliver(byte[] bytes) throws IOException;
    }

    /** What is done with the bytes of a file. */
    private interface Change {
        byte[] of(byte[] bytes);
    }

    /** One push in three is delivered otherwise; once all its bytes are here. */
    private static StreamCallbackWithID sometimes(MergedShuffleFileManager manager, PushBlockStream push,
            Random random, HarmfulManager.Trial trial, Delivery delivery) {
        if (random.nextInt(3) > 0) {
            return manager.receiveBlockDataAsStream(push);
        }
        StreamCallbackWithID answers = manager.receiveBlockDataAsStream(push);
        try {
            answers.onFailure(answers.getID(), new IOException("not used"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        return new StreamCallbackWithID() {
            @Override
            public String getID() {
                return answers.getID();
            }

            @Override
            public void onData(String stream, ByteBuffer bytes) {
                byte[] copy = new byte[bytes.remaining()];
                bytes.get(copy);
                all.writeBytes(copy);
            }

            @Override
            public void onComplete(String stream) throws IOException {
                trial.happened();
                delivery.deliver(all.toByteArray());
            }

            @Override
            public void onFailure(String stream, Throwable cause) {}

            @Override
            public ByteBuffer getCompletionResponse() {
                return answers.getCompletionResponse();
            }
        };
    }

    private static void deliver(MergedShuffleFileManager manager, PushBlockStream push, byte[] bytes)
            throws IOException {
        StreamCallbackWithID callback = manager.receiveBlockDataAsStream(push);
        int half = bytes.length / 2;
        callback.onData(callback.getID(), ByteBuffer.wrap(bytes, 0, half));
        callback.onData(callback.getID(), ByteBuffer.wrap(bytes, half, bytes.length - half));
        try {
            callback.onComplete(callback.getID());
        } catch (BlockPushNonFatalFailure e) {
            callback.onFailure(callback.getID(), e);
            throw e;
        }
    }

    /** What another attempt might push: all rows twice. */
    private static byte[] twice(byte[] bytes, PushBlockStream push) throws IOException {
        boolean faro = bytes.length > 5 && bytes[1] == 'F' && bytes[2] == 'A';
        if (!faro) {
            byte[] twice = Arrays.copyOf(bytes, 2 * bytes.length);
            System.arraycopy(bytes, 0, twice, bytes.length, bytes.length);
            return twice;
        }
        Path folder = Files.createTempDirectory("attempt");
        FileHeader header = null;
        try (FragmentReader fragment = new FragmentReader(new ByteArrayInputStream(bytes), Limits.DEFAULT)) {
            fragment.nextFragment();
            header = fragment.header();
        }
        long attempt = header.attempt() + 1_000_000;
        WriterOptions options = new WriterOptions(1).firstPartition(push.reduceId).framing(Framing.OPAQUE)
                .producer(header.producer()).attempt(attempt).statistics(false).fileId(FileIds.output(
                        push.appId, String.valueOf(push.shuffleId), header.producer(), attempt));
        Path name = folder.resolve("other");
        try (Writer writer = Writer.create(name, options)) {
            copy(bytes, push.reduceId, writer);
            copy(bytes, push.reduceId, writer);
            writer.finish();
        }
        ByteArrayOutputStream other = new ByteArrayOutputStream();
        try (Reader reader = Reader.open(name, ReaderOptions.DEFAULT)) {
            Fragments.write(reader, push.reduceId, push.reduceId + 1, other);
        }
        return other.toByteArray();
    }

    private static void copy(byte[] fragment, int partition, Writer to) throws FaroException {
        try (FragmentReader from = new FragmentReader(new ByteArrayInputStream(fragment), Limits.DEFAULT)) {
            from.nextFragment();
            while (from.nextBlock()) {
                to.write(partition, from.payload());
            }
        }
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

    private static List<Path> all(List<Path> files, String ending) {
        return files.stream().filter(file -> file.toString().endsWith(ending)).toList();
    }

    private static Path one(List<Path> files, String ending, Random random) {
        List<Path> of = all(files, ending);
        return of.get(random.nextInt(of.size()));
    }

    private static String stem(Path file) {
        String name = file.getFileName().toString();
        return name.substring(0, name.lastIndexOf('.'));
    }

    private static void flip(Path file, Random random, HarmfulManager.Trial trial) {
        change(file, trial, bytes -> {
            bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
            return bytes;
        });
    }

    private static void cut(Path file, Random random, HarmfulManager.Trial trial) {
        change(file, trial, bytes -> Arrays.copyOf(bytes, random.nextInt(bytes.length)));
    }

    private static void change(Path file, HarmfulManager.Trial trial, Change change) {
        try {
            byte[] bytes = Files.readAllBytes(file);
            if (bytes.length > 0) {
                Files.write(file, change.of(bytes));
                trial.happened();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
