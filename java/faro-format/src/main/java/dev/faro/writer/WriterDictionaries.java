package dev.faro.writer;

import dev.faro.BlockKind;
import dev.faro.FaroException;
import dev.faro.codec.Codec;
import dev.faro.codec.DictionaryDigest;
import dev.faro.codec.Encoder;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.block.BlockSeal;
import dev.faro.internal.message.Directory;
import dev.faro.internal.sortbuffer.SortBuffer;
import dev.faro.internal.storage.OutputFile;
import dev.faro.internal.writer.Committer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** The dictionaries of an output: those in the file, and those that are waiting for a region (DIC-8). */
final class WriterDictionaries {
    private static final int MAX_DICTIONARIES = 65_535;
    /** The maximum size that readers accept by default, in bytes. */
    private static final int MAX_BYTES = 1 << 20;

    private final OutputFile file;
    private final BlockSeal seal;
    private final Committer committer;
    private final boolean single;
    /** Null if nothing is to be trained. */
    private final DictionaryTraining training;
    private final Map<ByteBuffer, Integer> numbers = new HashMap<>();
    /** Dictionaries without a region after them. They come after all that were written. */
    private final List<ByteBuffer> waiting = new ArrayList<>();
    /** The offsets of the blocks of waiting dictionaries, if they were written before the current region. */
    private final List<Long> offsets = new ArrayList<>();

    WriterDictionaries(OutputFiles files, UUID fileId, Committer committer, DictionaryTraining training) {
        this.file = files.data();
        this.single = files.isSingle();
        this.training = training;
        this.seal = new BlockSeal(fileId);
        this.committer = committer;
    }

    /** The number of dictionaries, with those that are waiting. */
    int count() {
        return committer.directory().dictionaryCount() + waiting.size();
    }

    /** Whether dictionaries are to be written before the next region. */
    boolean areWaiting() {
        return !waiting.isEmpty();
    }

    /** Refuses bytes that no output takes as a dictionary (DIC-8). */
    static void checkBytes(byte[] dictionary) throws FaroException {
        ByteBuffer bytes = ByteBuffer.wrap(dictionary).order(ByteOrder.LITTLE_ENDIAN);
        if (!DictionaryDigest.isDictionary(bytes)) {
            throw FaroException.invalidArgument(
                    "a dictionary: 8 bytes or more that begin with 37 A4 30 EC", "other bytes");
        }
        if (dictionary.length > MAX_BYTES) {
            throw FaroException.invalidArgument("a dictionary of at most " + MAX_BYTES + " bytes", dictionary.length);
        }
    }

    /** Refuses a dictionary that cannot be added (DIC-8). One that is known already can be. */
    void check(byte[] dictionary) throws FaroException {
        checkBytes(dictionary);
        ByteBuffer bytes = ByteBuffer.wrap(dictionary);
        if (count() >= MAX_DICTIONARIES && !numbers.containsKey(bytes)) {
            throw FaroException.invalidArgument("at most " + MAX_DICTIONARIES + " dictionaries", "one more");
        }
    }

    /** The number of a dictionary that passed its check. If it is new, it waits from now on. */
    int add(byte[] dictionary) {
        ByteBuffer bytes = ByteBuffer.wrap(dictionary.clone());
        Integer known = numbers.get(bytes);
        if (known != null) {
            return known;
        }
        int number = count() + 1;
        numbers.put(bytes, number);
        waiting.add(bytes);
        return number;
    }

    /**
     * Trains a dictionary for the encoder on a region that is about to be written, if that is the first promising
     * region (DIC-7). A caller that adds dictionaries has trained them already.
     */
    void train(SortBuffer buffer, Encoder encoder) throws FaroException {
        if (training == null || training.isDone() || count() > 0) {
            return;
        }
        DictionaryTraining.Trained trained = training.train(buffer);
        if (trained != null) {
            encoder.use(trained.dictionary(), add(trained.dictionary()), trained.minMatch());
        }
    }

    /** Writes the dictionaries that are waiting, before a region. */
    void beginRegion() throws FaroException {
        Directory directory = committer.directory();
        for (ByteBuffer bytes : waiting) {
            int before = directory.dictionaryCount() + offsets.size();
            long sequence = single ? committer.sequence() + offsets.size() : before;
            int size = bytes.capacity();
            offsets.add(file.position());
            int at = file.reserve((int) BlockHeader.sizeInFile(size));
            file.buffer().put(at + BlockHeader.SIZE, bytes, 0, size);
            file.advance(seal.seal(file.buffer(), at, size, size, BlockHeader.NO_PARTITION, sequence,
                    BlockKind.DICTIONARY, Codec.NONE, before + 1));
        }
    }

    /**
     * Called before the current region is committed with blocks, and the dictionaries before it are committed as well.
     */
    void commit() {
        if (offsets.isEmpty()) {
            return;
        }
        for (int i = 0; i < offsets.size(); i++) {
            committer.dictionary(offsets.get(i), waiting.get(i).capacity(), single);
        }
        offsets.clear();
        waiting.clear();
    }

    /**
     * Called when the current region leaves nothing in the file: the dictionaries before it wait for the next region.
     */
    void giveUp() throws FaroException {
        if (!offsets.isEmpty()) {
            file.rewind(offsets.get(0));
            offsets.clear();
        }
    }
}
