package dev.faro.bench;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.faro.Framing;
import dev.faro.merge.Merge;
import dev.faro.merge.MergeOptions;
import dev.faro.merge.Push;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;

/** Faro: each fragment is a push; its bytes come in the pieces that are read. */
final class MergeFaro implements WriteSubject {
    private final PushedBlocks pushed;
    private final Path name;
    private long indexBytes;

    MergeFaro(PushedBlocks pushed) {
        this.pushed = pushed;
        this.name = pushed.folder().resolve("merged");
    }

    @Override
    public String name() {
        return "faro";
    }

    @Override
    public long plainBytes() {
        return (long) pushed.blocks() * pushed.blockBytes();
    }

    /** The push that is open, and the bytes that it still gets. */
    private static final class Service {
        private final Merge merge;
        private final int fragmentBytes;
        private Push push;
        private int left;
        private long next;

        Service(Merge merge, int fragmentBytes) {
            this.merge = merge;
            this.fragmentBytes = fragmentBytes;
        }

        void take(ByteBuffer bytes) throws IOException {
            while (bytes.hasRemaining()) {
                if (push == null) {
                    push = merge.begin(next, 0).push();
                    left = fragmentBytes;
                    next++;
                }
                ByteBuffer now = bytes.slice(bytes.position(), Math.min(left, bytes.remaining()));
                bytes.position(bytes.position() + now.remaining());
                left -= now.remaining();
                if (push.write(now) != null) {
                    throw new IOException("a push was refused");
                }
                if (left == 0) {
                    if (push.commit() != dev.faro.merge.Outcome.MERGED) {
                        throw new IOException("a push was refused");
                    }
                    push = null;
                }
            }
        }
    }

    @Override
    public Outcome write() throws Exception {
        try (Merge merge = Merge.create(name, new MergeOptions(1).framing(Framing.OPAQUE))) {
            Service service = new Service(merge, pushed.fragmentBytes());
            long begin = System.nanoTime();
            PushedBlocks.eachPiece(pushed.fragments(), service::take);
            long runs = merge.finish().runs();
            long nanos = System.nanoTime() - begin;
            if (runs != pushed.blocks()) {
                throw new IOException(runs + " runs of " + pushed.blocks());
            }
            indexBytes = Files.size(Path.of(name + ".index"));
            return new Outcome(nanos, Files.size(Path.of(name + ".data")), indexBytes, 2);
        }
    }

    @Override
    public ObjectNode figures() {
        return JsonNodeFactory.instance.objectNode().put("index_bytes_each", (double) indexBytes / pushed.blocks());
    }

    @Override
    public void clear() throws IOException {
        Files.deleteIfExists(Path.of(name + ".data"));
        Files.deleteIfExists(Path.of(name + ".index"));
    }
}
