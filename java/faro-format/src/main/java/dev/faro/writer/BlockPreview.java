package dev.faro.writer;

import dev.faro.BlockKind;
import dev.faro.Framing;
import dev.faro.internal.index.Members;
import dev.faro.internal.sortbuffer.ExtentSink;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Counts the data blocks that a region's records will make, and copies some of them. The count is approximate, because
 * events are not seen.
 */
final class BlockPreview implements ExtentSink {
    private final Framing framing;
    private final int blockSize;
    private final long every;
    private final List<byte[]> taken = new ArrayList<>();
    private final ByteArrayOutputStream block = new ByteArrayOutputStream();
    private long blocks;
    private long plain;
    private int filled;
    private boolean open;

    /** Makes a preview that copies every {@code every}-th block; none if that is 0. */
    BlockPreview(Framing framing, int blockSize, long every) {
        this.framing = framing;
        this.blockSize = blockSize;
        this.every = every;
    }

    /** The number of blocks. */
    long blocks() {
        return blocks;
    }

    /** The plain size of all blocks in bytes. */
    long plain() {
        return plain;
    }

    /** The plain payloads of the copied blocks, spread over the region. */
    List<byte[]> taken() {
        return taken;
    }

    @Override
    public void beginOwn(int partition) {
        open = false;
    }

    @Override
    public void beginShared(Members members) {
        open = false;
    }

    @Override
    public void record(ByteBuffer source, int at, int length, int kind, long rows) {
        if (kind != BlockKind.DATA) {
            return;
        }
        if (framing == Framing.OPAQUE) {
            bytes(source, at, at + length, 1);
            return;
        }
        int size = length + (framing == Framing.RECORDS ? 4 : 0);
        if (!open || framing == Framing.ARROW || filled + size > blockSize) {
            begin();
        }
        if (takes() && framing == Framing.RECORDS) {
            for (int i = 0; i < 4; i++) {
                block.write(length >>> 8 * i);
            }
        }
        filled += size - length;
        plain += size - length;
        add(source, at, length);
    }

    @Override
    public void bytes(ByteBuffer source, int from, int to, int count) {
        int part;
        for (int at = from; at < to; at += part) {
            if (!open || filled == blockSize) {
                begin();
            }
            part = Math.min(to - at, blockSize - filled);
            add(source, at, part);
        }
    }

    private void begin() {
        end();
        open = true;
        filled = 0;
        blocks++;
    }

    private void add(ByteBuffer source, int at, int length) {
        filled += length;
        plain += length;
        if (takes()) {
            byte[] bytes = new byte[length];
            source.get(at, bytes);
            block.writeBytes(bytes);
        }
    }

    private boolean takes() {
        return every > 0 && blocks % every == 0;
    }

    private void end() {
        if (block.size() > 0) {
            taken.add(block.toByteArray());
            block.reset();
        }
    }

    @Override
    public void endExtent() {
        end();
        open = false;
    }
}
