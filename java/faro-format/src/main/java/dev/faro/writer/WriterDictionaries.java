package dev.faro.writer;

import dev.faro.BlockKind;
import dev.faro.FaroException;
import dev.faro.codec.Decoder;
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

/** The dictionaries of an output: those that stand in the file, and those that wait for a region (DIC-8). */
final class WriterDictionaries {
    private static final int MOST = 65_535;
    /** As many bytes as readers take by default. */
    private static final int MOST_BYTES = 1 << 20;

    private final OutputFile file;
    private final BlockSeal seal;
    private final Committer committer;
    private final boolean single;
    /** Null when there is nothing to train. */
    private final DictionaryTraining training;
    private final Map<ByteBuffer, Integer> numbers = new HashMap<>();
    /** Those that no region stands behind yet; they come after all that were written. */
    private final List<ByteBuffer> waiting = new ArrayList<>();
    /** Where the blocks of those that wait begin, when they were written before the region in hand. */
    private final List<Long> offsets = new ArrayList<>();

    WriterDictionaries(OutputFiles files, UUID fileId, Committer committer, DictionaryTraining training) {
        this.file = files.data();
        this.single = files.isSingle();
        this.training = training;
        this.seal = new BlockSeal(fileId);
        this.committer = committer;
    }

    /** How many there are, those that wait too. */
    int count() {
        return committer.directory().dictionaryCount() + waiting.size();
    }

    /** Refuses what cannot be one more (DIC-8); bytes that are here already can. */
    void check(byte[] dictionary) throws FaroException {
        ByteBuffer bytes = ByteBuffer.wrap(dictionary).order(ByteOrder.LITTLE_ENDIAN);
        if (!DictionaryDigest.isDictionary(bytes)) {
            throw FaroException.invalidArgument("a dictionary: 8 bytes or more that begin with 37 A4 30 EC", "other bytes");
        }
        if (dictionary.length > MOST_BYTES) {
            throw FaroException.invalidArgument("a dictionary of at most " + MOST_BYTES + " bytes", dictionary.length);
        }
        if (count() >= MOST && !numbers.containsKey(bytes)) {
            throw FaroException.invalidArgument("at most " + MOST + " dictionaries", "one more");
        }
    }

    /** The number of a dictionary that passed its check; unless it is here already, it waits from now on. */
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
     * Trains one on a region that is about to be written, if it is the first that promises something (DIC-7), for the
     * encoder to use. Who hands over dictionaries has trained them already.
     */
    void train(SortBuffer buffer, Encoder encoder) throws FaroException {
        if (training == null || training.isDone() || count() > 0) {
            return;
        }
        DictionaryTraining.Trained trained = training.train(buffer);
        if (trained != null) {
            encoder.use(trained.dictionary(), add(trained.dictionary()), trained.leastMatch());
        }
    }

    /** Writes those that wait, where a region is about to begin. */
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
                    BlockKind.DICTIONARY, Decoder.NONE, before + 1));
        }
    }

    /** The region in hand is about to be committed with blocks, and with it the dictionaries before it. */
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

    /** The region in hand leaves nothing: the dictionaries before it wait for the next one. */
    void giveUp() throws FaroException {
        if (!offsets.isEmpty()) {
            file.rewind(offsets.get(0));
            offsets.clear();
        }
    }
}
