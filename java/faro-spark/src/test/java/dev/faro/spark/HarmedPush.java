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
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.apache.spark.network.client.StreamCallbackWithID;
import org.apache.spark.network.server.BlockPushNonFatalFailure;
import org.apache.spark.network.shuffle.MergedShuffleFileManager;
import org.apache.spark.network.shuffle.protocol.BlockPushReturnCode;
import org.apache.spark.network.shuffle.protocol.PushBlockStream;

/**
 * A push that arrives otherwise than it was sent.
 *
 * @param manager the merge manager that is meant
 * @param push the block
 * @param random decides where
 * @param bytes of the block, as they were sent
 */
record HarmedPush(MergedShuffleFileManager manager, PushBlockStream push, Random random, byte[] bytes) {
    /** What is done with the bytes. */
    interface Delivery {
        void deliver(HarmedPush push) throws IOException;
    }

    /** Collects the bytes of a push, and delivers them otherwise. */
    static StreamCallbackWithID receive(MergedShuffleFileManager manager, PushBlockStream push, Random random,
            HarmfulManager.Trial trial, Delivery delivery) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        return new StreamCallbackWithID() {
            @Override
            public String getID() {
                return "harmed";
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
                delivery.deliver(new HarmedPush(manager, push, random, all.toByteArray()));
            }

            @Override
            public void onFailure(String stream, Throwable cause) {}

            @Override
            public ByteBuffer getCompletionResponse() {
                return new BlockPushReturnCode(BlockPushNonFatalFailure.ReturnCode.SUCCESS.id(), "").toByteBuffer();
            }
        };
    }

    /** As it was sent. */
    void deliver() throws IOException {
        deliver(bytes);
    }

    void deliverFlipped() throws IOException {
        byte[] flipped = bytes.clone();
        flipped[random.nextInt(flipped.length)] ^= (byte) (1 << random.nextInt(8));
        deliver(flipped);
    }

    void deliverCut() throws IOException {
        deliver(Arrays.copyOf(bytes, random.nextInt(bytes.length)));
    }

    /** A part of it, and then the connection is gone. */
    void breakOff() throws IOException {
        StreamCallbackWithID broken = manager.receiveBlockDataAsStream(push);
        broken.onData(broken.getID(), ByteBuffer.wrap(bytes, 0, random.nextInt(bytes.length)));
        broken.onFailure(broken.getID(), new IOException("the connection is gone"));
    }

    /** What another attempt of the map task might push: all rows twice. */
    void deliverOtherAttempt() throws IOException {
        boolean faro = bytes.length > 5 && bytes[1] == 'F' && bytes[2] == 'A';
        if (faro) {
            deliver(fragmentTwice());
            return;
        }
        byte[] twice = Arrays.copyOf(bytes, 2 * bytes.length);
        System.arraycopy(bytes, 0, twice, bytes.length, bytes.length);
        deliver(twice);
    }

    private void deliver(byte[] what) throws IOException {
        StreamCallbackWithID callback = manager.receiveBlockDataAsStream(push);
        int half = what.length / 2;
        callback.onData(callback.getID(), ByteBuffer.wrap(what, 0, half));
        callback.onData(callback.getID(), ByteBuffer.wrap(what, half, what.length - half));
        try {
            callback.onComplete(callback.getID());
        } catch (BlockPushNonFatalFailure e) {
            callback.onFailure(callback.getID(), e);
            throw e;
        }
    }

    private byte[] fragmentTwice() throws IOException {
        FileHeader header;
        try (FragmentReader fragment = fragment()) {
            fragment.nextFragment();
            header = fragment.header();
        }
        long attempt = header.attempt() + 1_000_000;
        WriterOptions options = new WriterOptions(1).firstPartition(push.reduceId).framing(Framing.OPAQUE)
                .producer(header.producer()).attempt(attempt).statistics(false).fileId(FileIds.output(
                        push.appId, String.valueOf(push.shuffleId), header.producer(), attempt));
        Path folder = Files.createTempDirectory("faro-attempt");
        try {
            Path name = folder.resolve("other");
            try (Writer writer = Writer.create(name, options)) {
                copyTo(writer);
                copyTo(writer);
                writer.finish();
            }
            ByteArrayOutputStream other = new ByteArrayOutputStream();
            try (Reader reader = Reader.open(name, ReaderOptions.DEFAULT)) {
                Fragments.write(reader, push.reduceId, push.reduceId + 1, other);
            }
            return other.toByteArray();
        } finally {
            JobsBenchmark.remove(folder);
        }
    }

    private FragmentReader fragment() {
        return new FragmentReader(new ByteArrayInputStream(bytes), Limits.DEFAULT);
    }

    private void copyTo(Writer writer) throws FaroException {
        try (FragmentReader from = fragment()) {
            from.nextFragment();
            while (from.nextBlock()) {
                writer.write(push.reduceId, from.payload());
            }
        }
    }
}
