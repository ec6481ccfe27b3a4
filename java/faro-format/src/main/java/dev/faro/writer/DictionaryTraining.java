package dev.faro.writer;

import com.github.luben.zstd.ZstdDictTrainer;
import com.github.luben.zstd.ZstdException;
import dev.faro.FaroException;
import dev.faro.Framing;
import dev.faro.codec.Codec;
import dev.faro.codec.DictionaryDigest;
import dev.faro.codec.Encoder;
import dev.faro.internal.sortbuffer.SortBuffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** Trains a dictionary on the first region with small blocks, if that is worth it (DIC-7 and its note). */
final class DictionaryTraining {
    /** The minimum plain size of a region to train on, in bytes. */
    private static final long MIN_PLAIN = 64 << 10;
    /** The size of a dictionary in bytes: larger ones gain nothing at level 1. */
    private static final int SIZE = 16 << 10;
    /** The size of the blocks to train on, in bytes. */
    private static final int SAMPLED = 256 << 10;
    /** The size of the other blocks, which show whether the dictionary is worth it, in bytes. */
    private static final int HELD_OUT = 64 << 10;
    /** The size of a sample in bytes: the trainer needs several samples, and does not cut blocks itself. */
    private static final int SAMPLE = 2 << 10;

    private final Framing framing;
    private final int blockSize;
    private final int level;
    private boolean done;

    /**
     * The result of training.
     *
     * @param dictionary the bytes
     * @param minMatch the length of the shortest match that the encoder looks for, in bytes; 0 for the default of the
     *     level
     */
    record Trained(byte[] dictionary, int minMatch) {}

    DictionaryTraining(Framing framing, int blockSize, int level) {
        this.framing = framing;
        this.blockSize = blockSize;
        this.level = level;
    }

    /** Whether training has ended. */
    boolean isDone() {
        return done;
    }

    /**
     * Trains on a region that is about to be written.
     *
     * @return null if there is no dictionary that is worth it
     */
    Trained train(SortBuffer buffer) throws FaroException {
        BlockPreview counted = new BlockPreview(framing, blockSize, 0);
        buffer.preview(counted);
        long plain = counted.plain();
        boolean promising = plain >= MIN_PLAIN && plain < (long) Encoder.SMALL_BLOCK * counted.blocks();
        if (!promising) {
            return null;
        }
        done = true;
        long wanted = Math.max(1, (long) (SAMPLED + HELD_OUT) * counted.blocks() / counted.plain());
        BlockPreview preview = new BlockPreview(framing, blockSize, Math.max(1, counted.blocks() / wanted));
        buffer.preview(preview);
        List<byte[]> sampled = new ArrayList<>();
        List<byte[]> heldOut = new ArrayList<>();
        int every = (SAMPLED + HELD_OUT) / HELD_OUT;
        for (byte[] block : preview.taken()) {
            ((sampled.size() + heldOut.size()) % every == 0 ? heldOut : sampled).add(block);
        }
        byte[] dictionary = dictionary(sampled);
        return dictionary == null ? null : best(dictionary, heldOut);
    }

    private static byte[] dictionary(List<byte[]> blocks) {
        int total = blocks.stream().mapToInt(block -> block.length).sum();
        ZstdDictTrainer trainer = new ZstdDictTrainer(Math.max(1, total), SIZE);
        for (byte[] block : blocks) {
            for (int at = 0; at < block.length; at += SAMPLE) {
                trainer.addSample(java.util.Arrays.copyOfRange(block, at, Math.min(block.length, at + SAMPLE)));
            }
        }
        try {
            byte[] dictionary = trainer.trainSamples();
            return DictionaryDigest.isDictionary(ByteBuffer.wrap(dictionary).order(ByteOrder.LITTLE_ENDIAN))
                    ? dictionary : null;
        } catch (ZstdException e) {
            // The trainer found nothing that repeats, or had too few samples.
            return null;
        }
    }

    /** The dictionary with the settings that shrink the held-out blocks most; null if they gain less than 5 %. */
    private Trained best(byte[] dictionary, List<byte[]> blocks) {
        long least = size(blocks, null) * 95 / 100;
        Trained best = null;
        // Level 1 looks for matches of 6 bytes or more, as it does for large blocks; for its smallest inputs it uses 5.
        int[] lengths = level == 1 ? new int[] {0, 5} : new int[] {0};
        for (int minMatch : lengths) {
            Trained trained = new Trained(dictionary, minMatch);
            long size = size(blocks, trained);
            if (size <= least) {
                best = trained;
                least = size - 1;
            }
        }
        return best;
    }

    private long size(List<byte[]> blocks, Trained trained) {
        long size = 0;
        try (Encoder encoder = new Encoder(Codec.ZSTD, level)) {
            if (trained != null) {
                encoder.use(trained.dictionary, 1, trained.minMatch);
            }
            for (byte[] block : blocks) {
                ByteBuffer plain = ByteBuffer.allocateDirect(block.length).put(0, block);
                ByteBuffer target = ByteBuffer.allocateDirect((int) encoder.bound(block.length));
                size += Math.min(block.length, encoder.encode(plain, block.length, target, 0));
            }
        }
        return size;
    }
}
