package dev.faro.internal.reader;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.Limits;
import dev.faro.MemoryBudget;
import dev.faro.MemoryRefusedException;
import dev.faro.codec.DictionaryDigest;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.block.BlockReader;
import dev.faro.internal.block.Context;
import dev.faro.internal.block.Dictionaries;
import dev.faro.internal.block.Sequence;
import dev.faro.internal.bytes.Grant;
import dev.faro.internal.message.Directory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The dictionaries of an open output. Each is read, checked and prepared once, at its first use by any cursor (DIC-6).
 * Safe to share between threads.
 */
public final class FileDictionaries implements Dictionaries {
    private final FileSet files;
    private final Limits limits;
    private final Supplier<Directory> directory;
    /** Is called without the lock of the digests; null if everything is granted. */
    private final MemoryBudget budget;
    private final Map<Integer, DictionaryDigest> digests = new HashMap<>();
    /** What threads are reading, or asking the memory for. */
    private final List<Making> making = new ArrayList<>();
    /** The memory of the dictionaries that were read, in bytes. */
    private long memory;
    private boolean closed;

    private record Making(int number, Thread by) {
        boolean isOfAnother(Making other) {
            return number == other.number && by != other.by;
        }
    }

    private FileDictionaries(FileSet files, Limits limits, Supplier<Directory> directory, MemoryBudget budget) {
        this.budget = budget;
        this.files = files;
        this.limits = limits;
        this.directory = directory;
    }

    /** Makes the dictionaries of an output, or returns null if it does not have the feature. */
    static FileDictionaries of(FileSet files, Limits limits, Supplier<Directory> directory, MemoryBudget budget) {
        return files.header().hasDictionaries() ? new FileDictionaries(files, limits, directory, budget) : null;
    }

    @Override
    public int before(long offset) {
        return directory.get().dictionariesBefore(offset);
    }

    /**
     * Threads that need a dictionary at the same time each ask for its memory. After a refusal a thread waits for another
     * that makes the dictionary: what that gets needs no memory of its own.
     */
    @Override
    public DictionaryDigest digest(int number) throws FaroException {
        Making mine = new Making(number, Thread.currentThread());
        synchronized (digests) {
            DictionaryDigest known = digests.get(number);
            if (known != null) {
                return known;
            }
            making.add(mine);
        }
        try {
            // Its bytes, and the tables of the decoder. One that is too large is refused when it is read.
            long size = directory.get().dictionarySize(number - 1) & 0xFFFFFFFFL;
            long bytes = size > limits.maxDictionarySize() ? 0 : 2 * size;
            if (Grant.tryGrow(budget, bytes)) {
                return make(number, bytes);
            }
        } finally {
            synchronized (digests) {
                making.remove(mine);
                digests.notifyAll();
            }
        }
        DictionaryDigest known = ofOthers(mine);
        if (known == null) {
            throw files.data().io("memory for a dictionary", new MemoryRefusedException());
        }
        return known;
    }

    /** Reads a dictionary and keeps it, unless another thread has; {@code bytes} were granted for it. */
    private DictionaryDigest make(int number, long bytes) throws FaroException {
        boolean kept = false;
        try {
            synchronized (digests) {
                DictionaryDigest digest = digests.get(number);
                if (digest == null) {
                    digest = load(number);
                    if (!closed) {
                        digests.put(number, digest);
                        memory += bytes;
                        kept = true;
                    }
                }
                return digest;
            }
        } finally {
            if (!kept) {
                Grant.shrink(budget, bytes);
            }
        }
    }

    /** The dictionary, if another thread gets it; null otherwise. An interrupt waits too. */
    private DictionaryDigest ofOthers(Making mine) {
        boolean interrupted = false;
        synchronized (digests) {
            while (!closed && !digests.containsKey(mine.number) && making.stream().anyMatch(mine::isOfAnother)) {
                try {
                    digests.wait();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            return digests.get(mine.number);
        }
    }

    /** The memory of the dictionaries that were read: about twice their size, in bytes. */
    long memory() {
        synchronized (digests) {
            return memory;
        }
    }

    /** Forgets the dictionaries, and keeps no others. */
    void close() {
        long held;
        synchronized (digests) {
            closed = true;
            digests.clear();
            digests.notifyAll();
            held = memory;
            memory = 0;
        }
        Grant.shrink(budget, held);
    }

    private DictionaryDigest load(int number) throws FaroException {
        BlockReader block = find(files, limits, directory.get(), number);
        DictionaryDigest digest = DictionaryDigest.of(bytes(block));
        if (digest == null) {
            throw block.fault(ErrorCode.MALFORMED_BLOCK, BlockHeader.SIZE, "a dictionary that the decoder accepts",
                    "one that it refuses");
        }
        return digest;
    }

    /**
     * Finds and checks a dictionary of the directory (DIC-4).
     *
     * @return a reader with the dictionary's block as its last one
     * @throws FaroException the first check that fails
     */
    public static BlockReader find(FileSet files, Limits limits, Directory directory, int number) throws FaroException {
        long offset = directory.dictionaryOffset(number - 1);
        long size = directory.dictionarySize(number - 1) & 0xFFFFFFFFL;
        long end = offset + BlockHeader.sizeInFile(size);
        BlockReader block = BlockReader.ofMetadata(files.data(), files.header().fileId(), limits)
                .with(Dictionaries.counted(() -> number - 1));
        block.read(offset, end, end, Context.DICTIONARY, BlockHeader.NO_PARTITION,
                files.isSingle() ? BlockReader.ANY_SEQUENCE : Sequence.exactly(number - 1));
        if (block.storedSize() != size) {
            throw block.fault(ErrorCode.INCONSISTENT_INDEX, 0, "a dictionary of " + size + " bytes",
                    block.storedSize());
        }
        block.checkDictionaryBytes();
        return block;
    }

    private static byte[] bytes(BlockReader block) {
        ByteBuffer payload = block.storedPayload();
        byte[] bytes = new byte[payload.remaining()];
        payload.get(bytes);
        return bytes;
    }
}
