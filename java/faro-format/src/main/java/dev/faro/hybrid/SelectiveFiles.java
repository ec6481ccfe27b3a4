package dev.faro.hybrid;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileRole;
import dev.faro.codec.Codec;
import dev.faro.follow.Follower;
import dev.faro.index.Region;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.storage.OutputName;
import dev.faro.storage.StoredFile;
import dev.faro.writer.RegionWriter;
import dev.faro.writer.StoredBlock;
import dev.faro.writer.Summary;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The files of a selective store: the blocks that were not delivered when their region left the memory (HYB-5). */
final class SelectiveFiles implements SpillFiles {
    /** About how many bytes are read from the image at once. */
    private static final int COPIED = 256 << 10;

    private final OutputName name;
    private final WriterOptions options;
    /** The first partition in slot order, relative to the first partition of the file. */
    private final int rotation;
    private final ReadFile readData;
    private final ReadFile readIndex;
    private final ByteBuffer header = ByteBuffer.allocate(BlockHeader.SIZE).order(ByteOrder.LITTLE_ENDIAN);
    private ByteBuffer blocks = ByteBuffer.allocate(0);
    private Writer writer;
    /** For each partition, and for shared blocks, the sequence after the last block that was written. */
    private long[] ownWritten;
    private long sharedWritten;
    private final Map<String, String> properties = new TreeMap<>();
    private Summary finished;
    private long end = FileHeader.SIZE;

    /** @param options the caller's, with the file_id of the image */
    SelectiveFiles(OutputName name, WriterOptions options, int rotation) {
        this.name = name;
        this.options = options;
        this.rotation = rotation;
        this.readData = new ReadFile(name.file(FileRole.DATA));
        this.readIndex = new ReadFile(name.file(FileRole.INDEX));
    }

    /** Takes note of a property for the footer. */
    synchronized void property(String key, String value) {
        properties.put(key, value);
    }

    /** Blocks of an extent that were not delivered: [start, end) in the image. */
    private record Rest(int slot, int shared, long start, long end) {}

    @Override
    public void write(Image image, ImageRegion region) throws FaroException {
        Follower reader = image.reader();
        reader.poll();
        Region index = reader.region(region.number);
        List<Rest> rests = rests(image, index, reader.header().firstPartition());
        Location location = new Location();
        long before = end;
        if (!rests.isEmpty()) {
            if (writer == null) {
                writer = Writer.create(name.path(), options);
                ownWritten = new long[image.partitions()];
            }
            try (RegionWriter written = writer.region()) {
                for (Rest rest : rests) {
                    location.add(rest.start, rest.end, end);
                    if (rest.shared >= 0) {
                        beginShared(written, index, rest.shared, reader);
                    }
                    copy(image, rest, index, written);
                    end += rest.end - rest.start;
                }
                written.end();
            }
        }
        image.wrote(region, location, null, end - before);
    }

    private List<Rest> rests(Image image, Region index, int firstPartition) throws FaroException {
        List<Rest> rests = new ArrayList<>();
        for (int slot : inSlotOrder(index, firstPartition + rotation)) {
            Progress progress = image.progress(index.partitionOf(slot) - firstPartition);
            long from = wanted(progress, index.sequence(), false);
            add(rests, image, slot, -1, index.start(slot), index.start(slot + 1), from);
        }
        for (int shared = 0; shared < index.sharedCount(); shared++) {
            long from = Long.MAX_VALUE;
            for (int i = 0; i < image.partitions(); i++) {
                if (index.isMember(shared, firstPartition + i)) {
                    from = Math.min(from, wanted(image.progress(i), index.sequence(), true));
                }
            }
            add(rests, image, -1, shared, index.sharedStart(shared), index.sharedEnd(shared), from);
        }
        return rests;
    }

    /** The slots of a region in the order that a region writer wants; those of a sparse region have another. */
    private static int[] inSlotOrder(Region index, int turn) {
        int[] slots = new int[index.slots()];
        int next = 0;
        for (boolean before : new boolean[] {false, true}) {
            for (int slot = 0; slot < slots.length; slot++) {
                if (index.partitionOf(slot) < turn == before) {
                    slots[next++] = slot;
                }
            }
        }
        return slots;
    }

    /** The sequence from which a partition still needs blocks of a region. */
    private static long wanted(Progress progress, int region, boolean shared) {
        return progress == null ? 0 : progress.wanted(region, shared);
    }

    private void add(List<Rest> rests, Image image, int slot, int shared, long start, long end, long from)
            throws FaroException {
        long at = start;
        while (from > 0 && at < end) {
            if (from == Long.MAX_VALUE) {
                return;
            }
            readHeader(image, at);
            if (Integer.toUnsignedLong(header.getInt(BlockHeader.SEQUENCE)) >= from) {
                break;
            }
            at += BlockHeader.sizeInFile(Integer.toUnsignedLong(header.getInt(0)));
        }
        if (at < end) {
            rests.add(new Rest(slot, shared, at, end));
        }
    }

    private void readHeader(Image image, long at) throws FaroException {
        image.read(at, header.clear());
    }

    private static void beginShared(RegionWriter written, Region index, int shared, Follower reader)
            throws FaroException {
        if (index.isForAll(shared)) {
            written.sharedAll();
            return;
        }
        int first = reader.header().firstPartition();
        int after = first + reader.header().partitionCount();
        int[] members = new int[reader.header().partitionCount()];
        int count = 0;
        for (int p = index.nextMember(shared, first, after); p >= 0; p = index.nextMember(shared, p + 1, after)) {
            members[count++] = p;
        }
        written.shared(Arrays.copyOf(members, count));
    }

    /** Copies blocks, many with one read. */
    private void copy(Image image, Rest rest, Region index, RegionWriter written) throws FaroException {
        for (long at = rest.start; at < rest.end;) {
            readHeader(image, at);
            long first = BlockHeader.sizeInFile(Integer.toUnsignedLong(header.getInt(0)));
            int size = (int) Math.min(rest.end - at, Math.max(first, COPIED));
            if (blocks.capacity() < size) {
                blocks = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
            }
            image.read(at, blocks.clear().limit(size));
            at += copyWhole(blocks.flip(), rest, index, written);
        }
    }

    /** Copies the blocks that are whole; returns their size. */
    private int copyWhole(ByteBuffer bytes, Rest rest, Region index, RegionWriter written) throws FaroException {
        int at = 0;
        while (bytes.limit() - at >= BlockHeader.SIZE) {
            int stored = bytes.getInt(at);
            long next = at + BlockHeader.sizeInFile(Integer.toUnsignedLong(stored));
            if (next > bytes.limit()) {
                break;
            }
            StoredBlock block = StoredBlock.of(bytes.get(at + BlockHeader.KIND),
                    Codec.of(bytes.get(at + BlockHeader.KIND + 1)), Integer.toUnsignedLong(bytes.getInt(at + 4)),
                    bytes.slice(at + BlockHeader.SIZE, stored));
            long sequence = Integer.toUnsignedLong(bytes.getInt(at + BlockHeader.SEQUENCE));
            written.sequence(sequence);
            if (rest.shared >= 0) {
                written.storedBlock(block, 0);
                sharedWritten = sequence + 1;
            } else {
                int partition = index.partitionOf(rest.slot);
                written.storedBlock(partition, block, 0);
                ownWritten[partition - writer.header().firstPartition()] = sequence + 1;
            }
            at = (int) next;
        }
        return at;
    }

    /**
     * Ends the files, if there are any: the footer says that all else was delivered.
     *
     * @param header of the image
     */
    void finish(Image image, FileHeader header) throws FaroException {
        if (writer == null) {
            return;
        }
        long shared = sharedWritten;
        for (int i = 0; i < header.partitionCount(); i++) {
            Progress progress = image.progress(i);
            if (progress != null) {
                writer.skipTo(header.firstPartition() + i, Math.max(ownWritten[i], progress.own()));
                shared = Math.max(shared, progress.shared());
            }
        }
        writer.skipSharedTo(shared);
        for (Map.Entry<String, String> property : properties.entrySet()) {
            writer.property(property.getKey(), property.getValue());
        }
        finished = writer.finish();
        close();
    }

    @Override
    public StoredFile data() throws IOException {
        return readData.get();
    }

    @Override
    public StoredFile index() throws IOException {
        return readIndex.get();
    }

    private void close() {
        readData.close();
        readIndex.close();
    }

    @Override
    public void remove() {
        close();
        if (writer != null) {
            writer.abort();
        }
        if (finished != null) {
            // The index last in the list, and first to go, because it is the commit.
            for (int i = finished.files().size() - 1; i >= 0; i--) {
                try {
                    Files.deleteIfExists(finished.files().get(i));
                } catch (IOException e) {
                    // It stays, finished as it is.
                }
            }
        }
    }
}
